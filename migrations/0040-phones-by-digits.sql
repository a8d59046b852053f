-- GET /Search finds a phone by its digits, however it is spaced. An identity table.
create index communication_digits on communication ((regexp_replace(name, '[^0-9]', '', 'g')));
