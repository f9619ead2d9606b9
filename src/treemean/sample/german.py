from treemean.sample.dutch import grammar
