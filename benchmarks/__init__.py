"""arcmeans side by side with its peers: ``python -m benchmarks`` from the root of the checkout."""
