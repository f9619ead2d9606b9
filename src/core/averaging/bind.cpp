#include "averaging/bind.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "averaging/batch.hpp"
#include "averaging/preferences.hpp"
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
  if (name == "last") return averaging::Direction::last;
  if (name == "balanced") return averaging::Direction::balanced;
  throw std::invalid_argument("the direction must be left, right, last or balanced");
}

averaging::Ties ties_of(const std::string& name) {
  if (name == "canonical") return averaging::Ties::canonical;
  if (name == "right") return averaging::Ties::right;
  if (name == "left") return averaging::Ties::left;
  if (name == "values") return averaging::Ties::values;
  throw std::invalid_argument("ties must be canonical, right, left or values");
}

// The arrays of individuals; they must outlive what is made of them.
class IndividualColumns {
 public:
  using Ranked = std::pair<Column<std::int32_t>, Column<std::int32_t>>;  // codes, and the rank of every code
  using Chains = std::vector<std::pair<std::vector<std::int32_t>, std::int64_t>>;  // sequences, how often
  using Weights = std::pair<std::int64_t, std::int64_t>;  // of continuous and of discontinuous constituents

  IndividualColumns(Column<std::int64_t> word_offsets, double value_scale)
      : word_offsets_(std::move(word_offsets)), value_scale_(value_scale) {}

  // Python gives all of them by name. NOLINTNEXTLINE(readability-function-size)
  void add(Column<std::int64_t> constituent_offsets, Column<std::uint64_t> bits, Ranked labels,
           std::optional<Ranked> functions, std::optional<Column<double>> values,
           std::optional<Column<std::int64_t>> preferences, std::optional<Column<double>> posteriors,
           std::optional<Column<std::int64_t>> sizes, Weights weights) {
    all_.push_back({std::move(constituent_offsets), std::move(bits), std::move(labels), std::move(functions),
                    std::move(values), std::move(preferences), std::move(posteriors), std::move(sizes),
                    weights});
  }

  void set_frequencies(Column<std::int64_t> labels, Chains longer_chains, Column<std::int64_t> functions) {
    label_frequencies_ = std::move(labels);
    longer_chains_ = std::move(longer_chains);
    function_frequencies_ = std::move(functions);
  }

  averaging::Individuals view() const {
    averaging::Individuals result;
    result.word_offsets = span_of(word_offsets_);
    result.value_scale = value_scale_;
    if (label_frequencies_) result.frequencies.labels = span_of(*label_frequencies_);
    if (function_frequencies_) result.frequencies.functions = span_of(*function_frequencies_);
    result.frequencies.longer_chains = {longer_chains_.begin(), longer_chains_.end()};
    for (const One& one : all_) {
      const auto& [codes, ranks] = one.labels;
      const auto [continuous, discontinuous] = one.weights;
      result.typed |= continuous != discontinuous;
      result.valued |= one.values.has_value();
      averaging::Individual& individual = result.all.emplace_back();
      individual.constituent_offsets = span_of(one.constituent_offsets);
      individual.bits = span_of(one.bits);
      individual.labels = span_of(codes);
      individual.label_ranks = span_of(ranks);
      if (one.functions) {
        individual.functions = span_of(one.functions->first);
        individual.function_ranks = span_of(one.functions->second);
      }
      if (one.values) individual.values = span_of(*one.values);
      if (one.preferences) individual.preferences = span_of(*one.preferences);
      if (one.posteriors) individual.posteriors = span_of(*one.posteriors);
      if (one.sizes) individual.sizes = span_of(*one.sizes);
      individual.continuous = continuous;
      individual.discontinuous = discontinuous;
    }
    return result;
  }

 private:
  struct One {
    Column<std::int64_t> constituent_offsets;
    Column<std::uint64_t> bits;
    Ranked labels;
    std::optional<Ranked> functions;
    std::optional<Column<double>> values;
    std::optional<Column<std::int64_t>> preferences;
    std::optional<Column<double>> posteriors;
    std::optional<Column<std::int64_t>> sizes;
    Weights weights;
  };

  Column<std::int64_t> word_offsets_;
  double value_scale_;
  std::vector<One> all_;
  std::optional<Column<std::int64_t>> label_frequencies_, function_frequencies_;
  Chains longer_chains_;
};

nb::dict to_python(averaging::Averages&& averages) {
  nb::dict result;
  result["constituent_counts"] = to_numpy(std::move(averages.constituent_counts));
  result["bits"] = to_numpy(std::move(averages.bits));
  result["labels"] = to_numpy(std::move(averages.labels));
  result["functions"] = to_numpy(std::move(averages.functions));
  result["support_labelled"] = to_numpy(std::move(averages.support_labelled));
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
  const nb::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

// Runs `work` on checked individuals without holding Python's lock. Signals are attended to all the same.
template <class Work>
auto with_individuals(const IndividualColumns& columns, const averaging::Options& options, Work&& work) {
  averaging::Individuals individuals = columns.view();
  const nb::gil_scoped_release released;
  if (const std::string problem = individuals.check(options.p, options.q, options.labelled);
      !problem.empty()) {
    throw std::invalid_argument(problem);
  }
  averaging::StopSign sign(ask_python);
  return std::forward<Work>(work)(std::as_const(individuals), sign);
}

// Python gives all of them by name. NOLINTNEXTLINE(readability-function-size)
averaging::Options make_options(const std::string& goal, const std::string& direction, std::int64_t p,
                                std::int64_t q, std::int64_t node_limit, double time_limit, bool labelled,
                                bool keep_chains, const std::string& ties) {
  if (q < 1 || q > max_beta2 || p < 0 || p > max_beta2 * q)
    throw std::invalid_argument("beta is out of range");
  return {goal_of(goal), direction_of(direction), p, q, node_limit, time_limit, labelled, keep_chains,
          ties_of(ties)};
}

void require_average(const averaging::Options& options) {
  if (options.goal != averaging::Goal::average) throw std::invalid_argument("the goal must be average");
}

void require_one_sentence(const averaging::Individuals& individuals) {
  if (individuals.sentences() != 1 || individuals.words(0) == 0)
    throw std::invalid_argument("one sentence with words is needed");
}

}  // namespace

void bind_averaging(nb::module_& m) {
  nb::class_<IndividualColumns>(m, "Individuals")
      .def(nb::init<Column<std::int64_t>, double>(), "word_offsets"_a, "value_scale"_a)
      .def("add", &IndividualColumns::add, "constituent_offsets"_a, "bits"_a, "labels"_a,
           "functions"_a.none(), "values"_a.none(), "preferences"_a.none(), "posteriors"_a.none(),
           "sizes"_a.none(), "weights"_a)
      .def("set_frequencies", &IndividualColumns::set_frequencies, "labels"_a, "longer_chains"_a,
           "functions"_a);

  nb::class_<averaging::Options>(m, "Options")
      .def(nb::new_(&make_options), nb::kw_only(), "goal"_a, "direction"_a, "p"_a, "q"_a, "node_limit"_a,
           "time_limit"_a, "labelled"_a, "keep_chains"_a, "ties"_a);

  m.def(
      "count_chains",
      [](const Column<std::int64_t>& word_offsets, const Column<std::int64_t>& constituent_offsets,
         const Column<std::uint64_t>& bits, const IndividualColumns::Ranked& labels) {
        IndividualColumns columns(word_offsets, 1);
        columns.add(constituent_offsets, bits, labels, std::nullopt, std::nullopt, std::nullopt, std::nullopt,
                    std::nullopt, {1, 1});
        const averaging::Options plain;
        averaging::ChainCounts counts = with_individuals(
            columns, plain, [](const averaging::Individuals& individuals, averaging::StopSign&) {
              return averaging::count_chains(individuals, 0);
            });
        const IndividualColumns::Chains longer(counts.longer.begin(), counts.longer.end());
        return std::pair(to_numpy(std::move(counts.single)), longer);
      },
      "word_offsets"_a, "constituent_offsets"_a, "bits"_a, "labels"_a,
      "Return how often each label (by code) is the only one of its set, and how often sequences of several "
      "codes are.");

  m.def(
      "average",
      [](const IndividualColumns& columns, const averaging::Options& options, unsigned threads) {
        return to_python(with_individuals(
            columns, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              return averaging::average_all(individuals, options, threads, sign);
            }));
      },
      "individuals"_a, "options"_a, "threads"_a, "Average all sentences; see treemean.averaging.exact.");

  m.def(
      "best_trees",
      [](const IndividualColumns& columns, const averaging::Options& options, std::size_t limit,
         bool only_optimal) {
        require_average(options);
        if (limit == 0) throw std::invalid_argument("at least one tree must be asked for");
        return to_python(with_individuals(
            columns, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              require_one_sentence(individuals);
              averaging::Averages averages;
              averaging::SentenceAverager(individuals, options, sign)
                  .add_best(0, limit, only_optimal, averages);
              return averages;
            }));
      },
      "individuals"_a, "options"_a, "limit"_a, "only_optimal"_a,
      "Return the best trees of one sentence, in the columns of `average`.");

  m.def(
      "count_best_trees",
      [](const IndividualColumns& columns, const averaging::Options& options) {
        require_average(options);
        const std::vector<averaging::Count> factors = with_individuals(
            columns, options, [&](const averaging::Individuals& individuals, averaging::StopSign& sign) {
              require_one_sentence(individuals);
              return averaging::SentenceAverager(individuals, options, sign).count_best(0);
            });
        // Python multiplies, as its integers have no end.
        std::vector<std::pair<std::uint64_t, std::uint64_t>> halves;
        halves.reserve(factors.size());
        for (const averaging::Count factor : factors) {
          halves.emplace_back(static_cast<std::uint64_t>(factor >> 64), static_cast<std::uint64_t>(factor));
        }
        return halves;
      },
      "individuals"_a, "options"_a,
      "Return factors of the number of best trees of one sentence, each as (high, low) 64-bit halves.");
}

}  // namespace treemean
