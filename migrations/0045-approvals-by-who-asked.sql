-- What somebody has asked for, among what waits for approval (approval is a local table).
create index approval_user on approval (user_id, approval_id);
