-- A notice that was settled in part was left with 0 for the figure that it never had, and its rest
-- would have been posted for no money, or for no units. Such a figure is none.
update biz_event set amount = null
where biz_event_status_id = 1 and amount = 0 and quantity > 0;
update biz_event set quantity = null
where biz_event_status_id = 1 and quantity = 0 and amount > 0;
