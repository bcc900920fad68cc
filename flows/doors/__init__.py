"""The doors: how a question comes in and its answer goes out, at the terminal, for an agent, in a file."""
