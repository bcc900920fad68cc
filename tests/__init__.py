"""Tests. A package, since a dependency ships one of the same name, which would win over a plain folder."""
