-- The deliveries of a webhook that failed, among all that were ever made: without it all of a
-- webhook's were walked, half a second of four hundred thousand. Only what fails has an entry.
create index webhook_delivery_failed on webhook_delivery (webhook_id, webhook_delivery_id)
  where status = 'failed';
