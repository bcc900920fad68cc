(SELECT any_value(amount)::DOUBLE FROM core.assumption WHERE assumption = assumption_name)
