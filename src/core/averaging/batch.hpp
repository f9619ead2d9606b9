// Averages of many sentences at once, on several threads.
#pragma once

#include "averaging/individuals.hpp"
#include "averaging/sentence.hpp"

namespace treemean::averaging {

// The individuals must have passed `check`. The result does not depend on the number of threads (0: one per
// core), unless there is a time limit. What the sign's question throws ends all threads and is thrown again.
Averages average_all(const Individuals& individuals, const Options& options, unsigned threads,
                     StopSign& sign);

}  // namespace treemean::averaging
