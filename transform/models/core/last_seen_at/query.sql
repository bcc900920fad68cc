-- A row says until when it was confirmed only where a later batch did not confirm it; else every good night of its source did.
least(confirmed, greatest(source_read_at, since))
