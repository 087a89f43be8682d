-- For whom the tool ran whose result is kept. A row without one is from before and gone within the hour.
ALTER TABLE results ADD COLUMN user_id TEXT COLLATE "C";
