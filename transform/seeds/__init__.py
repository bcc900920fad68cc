"""Tables that come from the project's own data: the catalogue of GPUs, the workloads, the settings, the printed claims."""
