"""From signed bundles to power models: extract, class, fit, evaluate, plan, build."""
