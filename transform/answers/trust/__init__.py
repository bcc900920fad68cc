"""Questions about how far figures can be trusted: their sources, evidence and audit, and what was held or refused."""
