-- When the rest of a webhook began: one that began later than now is of a clock that was ahead.
ALTER TABLE webhooks ADD COLUMN rested_at_ms INTEGER;
