#include "averaging/bind.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <stdexcept>
#include <string>
#include <vector>

#include "averaging/batch.hpp"
#include "numpy.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace treemean {
namespace {

// So that products of hits and denominators fit into 128 bits.
constexpr std::int64_t max_beta2 = 1'000'000;

averaging::Goal goal_of(const std::string& name) {
  if (name == "average") return averaging::Goal::average;
  if (name == "binary") return averaging::Goal::binary;
  if (name == "sum") return averaging::Goal::sum;
  throw std::invalid_argument("the goal must be average, binary or sum");
}

averaging::Direction direction_of(const std::string& name) {
  if (name == "left") return averaging::Direction::left;
  if (name == "right") return averaging::Direction::right;
  if (name == "balanced") return averaging::Direction::balanced;
  throw std::invalid_argument("the direction must be left, right or balanced");
}

// The arrays of individuals; they must outlive what is made of them.
struct Arguments {
  Column<std::int64_t> word_offsets;
  std::vector<Column<std::int64_t>> constituent_offsets;
  std::vector<Column<std::uint64_t>> bits;
  std::vector<Column<std::int32_t>> labels;
  std::vector<Column<std::int32_t>> label_ranks;
  std::vector<Column<double>> values;
  std::vector<std::int64_t> continuous, discontinuous;
  double value_scale;

  Arguments(Column<std::int64_t> word_offsets, std::vector<Column<std::int64_t>> constituent_offsets,
            std::vector<Column<std::uint64_t>> bits, std::vector<Column<std::int32_t>> labels,
            std::vector<Column<std::int32_t>> label_ranks, std::vector<Column<double>> values,
            std::vector<std::int64_t> continuous, std::vector<std::int64_t> discontinuous, double value_scale)
      : word_offsets(std::move(word_offsets)),
        constituent_offsets(std::move(constituent_offsets)),
        bits(std::move(bits)),
        labels(std::move(labels)),
        label_ranks(std::move(label_ranks)),
        values(std::move(values)),
        continuous(std::move(continuous)),
        discontinuous(std::move(discontinuous)),
        value_scale(value_scale) {}

  averaging::Individuals individuals() const {
    const std::size_t count = constituent_offsets.size();
    if (bits.size() != count || labels.size() != count || label_ranks.size() != count || continuous.size() != count ||
        discontinuous.size() != count || (!values.empty() && values.size() != count)) {
      throw std::invalid_argument("columns or weights are missing for some individuals");
    }
    averaging::Individuals result;
    result.word_offsets = span_of(word_offsets);
    result.value_scale = value_scale;
    result.valued = !values.empty();
    for (std::size_t k = 0; k < count; ++k) {
      result.typed |= continuous[k] != discontinuous[k];
      result.all.push_back({span_of(constituent_offsets[k]),
                            span_of(bits[k]),
                            span_of(labels[k]),
                            span_of(label_ranks[k]),
                            values.empty() ? std::span<const double>() : span_of(values[k]),
                            continuous[k],
                            discontinuous[k],
                            {}});
    }
    return result;
  }
};

nb::dict to_python(averaging::Averages&& averages) {
  nb::dict result;
  result["constituent_counts"] = to_numpy(std::move(averages.constituent_counts));
  result["bits"] = to_numpy(std::move(averages.bits));
  result["labels"] = to_numpy(std::move(averages.labels));
  result["support"] = to_numpy(std::move(averages.support));
  result["objective"] = to_numpy(std::move(averages.objective));
  result["average_f1"] = to_numpy(std::move(averages.average_f1));
  result["upper_bound"] = to_numpy(std::move(averages.upper_bound));
  result["optimal"] = to_numpy(std::move(averages.optimal));
  result["nodes"] = to_numpy(std::move(averages.nodes));
  result["candidates"] = to_numpy(std::move(averages.candidates));
  result["seconds"] = to_numpy(std::move(averages.seconds));
  return result;
}

// Throws what Python's signal handlers raise, such as KeyboardInterrupt.
void ask_python() {
  nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Runs `work` on checked individuals without holding Python's lock. Signals are attended to all the same.
template <class Work>
auto with_individuals(const Arguments& arguments, const averaging::Options& options, Work&& work) {
  nb::gil_scoped_release released;
  averaging::Individuals individuals = arguments.individuals();
  if (const std::string problem = individuals.check(options.p, options.q); !problem.empty()) {
    throw std::invalid_argument(problem);
  }
  averaging::StopSign sign(ask_python);
  try {
    return work(static_cast<const averaging::Individuals&>(individuals), sign);
  } catch (const averaging::Undecided& undecided) {
    throw std::runtime_error(undecided.why);
  }
}

averaging::Options options_of(const std::string& goal, const std::string& direction, std::int64_t p, std::int64_t q,
                              std::int64_t node_limit, double time_limit) {
  if (q < 1 || q > max_beta2 || p < 0 || p > max_beta2 * q) throw std::invalid_argument("beta is out of range");
  return {goal_of(goal), direction_of(direction), p, q, node_limit, time_limit};
}

void require_one_sentence(const averaging::Individuals& individuals) {
  if (individuals.sentences() != 1 || individuals.words(0) == 0)
    throw std::invalid_argument("one sentence with words is needed");
}

}  // namespace

void bind_averaging(nb::module_& m) {
  nb::class_<Arguments>(m, "Individuals")
      .def(nb::init<Column<std::int64_t>, std::vector<Column<std::int64_t>>, std::vector<Column<std::uint64_t>>,
                    std::vector<Column<std::int32_t>>, std::vector<Column<std::int32_t>>, std::vector<Column<double>>,
                    std::vector<std::int64_t>, std::vector<std::int64_t>, double>(),
           "word_offsets"_a, "constituent_offsets"_a, "bits"_a, "labels"_a, "label_ranks"_a, "values"_a, "continuous"_a,
           "discontinuous"_a, "value_scale"_a);

  m.def(
      "average",
      [](const Arguments& arguments, const std::string& goal, const std::string& direction, std::int64_t p,
         std::int64_t q, std::int64_t node_limit, double time_limit, unsigned threads) {
        const averaging::Options options = options_of(goal, direction, p, q, node_limit, time_limit);
        return to_python(with_individuals(
            arguments, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              return averaging::average_all(individuals, options, threads, sign);
            }));
      },
      "individuals"_a, "goal"_a, "direction"_a, "p"_a, "q"_a, "node_limit"_a, "time_limit"_a, "threads"_a,
      "Average all sentences; see treemean.averaging.exact.");

  m.def(
      "best_trees",
      [](const Arguments& arguments, std::int64_t p, std::int64_t q, std::int64_t node_limit, std::size_t limit,
         bool only_optimal) {
        const averaging::Options options = options_of("average", "right", p, q, node_limit, 0);
        if (limit == 0) throw std::invalid_argument("at least one tree must be asked for");
        return to_python(with_individuals(
            arguments, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              require_one_sentence(individuals);
              averaging::Averages averages;
              averaging::SentenceAverager(individuals, options, sign).add_best(0, limit, only_optimal, averages);
              return averages;
            }));
      },
      "individuals"_a, "p"_a, "q"_a, "node_limit"_a, "limit"_a, "only_optimal"_a,
      "Return the best trees of one sentence, in the columns of `average`.");

  m.def(
      "count_best_trees",
      [](const Arguments& arguments, std::int64_t p, std::int64_t q, std::int64_t node_limit) {
        const averaging::Options options = options_of("average", "right", p, q, node_limit, 0);
        const std::vector<averaging::Count> factors = with_individuals(
            arguments, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              require_one_sentence(individuals);
              return averaging::SentenceAverager(individuals, options, sign).count_best(0);
            });
        // Python multiplies, as its integers have no end.
        std::vector<std::pair<std::uint64_t, std::uint64_t>> halves;
        for (const averaging::Count factor : factors) {
          halves.emplace_back(static_cast<std::uint64_t>(factor >> 64), static_cast<std::uint64_t>(factor));
        }
        return halves;
      },
      "individuals"_a, "p"_a, "q"_a, "node_limit"_a,
      "Return factors of the number of best trees of one sentence, each as (high, low) 64-bit halves.");
}

}  // namespace treemean
