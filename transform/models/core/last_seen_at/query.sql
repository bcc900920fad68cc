-- A row has a confirmed_until only if a later batch did not confirm it. Otherwise every good night of its source confirmed it.
least(confirmed, greatest(source_read_at, since))
