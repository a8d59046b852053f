-- What a key has ordered, by the key: a reference is looked up by an index (0065 made none).
create index import_of_api_key on import (api_key_id);
create index report_of_api_key on report (api_key_id);
