"""Loads tables from the project's own data: the catalogue of GPUs, the workloads, the settings, the published claims."""
