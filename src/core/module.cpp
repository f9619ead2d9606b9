// The Python face of the core: treemean._core. Private; the rooms in src/treemean wrap it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "alpino.hpp"
#include "averaging/bind.hpp"
#include "bracket_writer.hpp"
#include "brackets.hpp"
#include "dialects.hpp"
#include "numpy.hpp"
#include "plain_bind.hpp"
#include "python_columns.hpp"
#include "validity.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using treemean::span_of;

namespace {

nb::tuple to_python(treemean::ReadResult&& result) {
  nb::list problems;
  for (const treemean::Problem& problem : result.problems) {
    const nb::bytes message(problem.message.data(), problem.message.size());
    problems.append(nb::make_tuple(message, problem.line, problem.begin, problem.end, problem.sentence));
  }
  return nb::make_tuple(to_python(std::move(result.columns)), result.consumed, result.lines, problems,
                        result.fatal, result.opened);
}

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }

using Offsets = treemean::Column<std::int64_t>;
using Codes = treemean::Column<std::int32_t>;
using Bytes = treemean::Column<std::uint8_t>;
using BitWords = treemean::Column<std::uint64_t>;
using Trees = std::tuple<Offsets, Offsets, BitWords>;
using Texts = std::tuple<Codes, Bytes, Offsets>;

treemean::TreeColumns view(const Trees& trees) {
  const auto& [word_offsets, constituent_offsets, bits] = trees;
  return {span_of(word_offsets), span_of(constituent_offsets), span_of(bits)};
}

treemean::CodedView view(const Texts& texts) {
  const auto& [codes, data, offsets] = texts;
  return {span_of(codes), span_of(data), span_of(offsets)};
}

}  // namespace

// NOLINTNEXTLINE(cppcoreguidelines-*): what the macro makes is not ours
NB_MODULE(_core, m) {
  m.doc() = "The native core of treemean: readers that fill columns, and checks of columns.";

  nb::class_<treemean::Vocabularies>(m, "Vocabularies", "What readers of one file know of its texts.")
      .def(nb::init<>());

  m.def(
      "read_brackets",
      [](const nb::bytes& text, bool discontinuous, bool final, bool skip, bool keep_wrapper, int leaves,
         bool helsinki, bool guessed, bool keep_empty, bool keep_lemmas, treemean::Vocabularies* known) {
        treemean::BracketResult result;
        {
          const nb::gil_scoped_release released;
          result = treemean::read_brackets(view(text),
                                           {discontinuous, static_cast<treemean::Leaves>(leaves), helsinki,
                                            guessed, keep_empty, keep_lemmas},
                                           {final, skip, keep_wrapper, known});
        }
        const treemean::LeftOut left_out = std::move(result.left_out);
        const nb::bytes foreign(left_out.foreign.data(), left_out.foreign.size());
        nb::tuple chunk = to_python(static_cast<treemean::ReadResult&&>(result));
        return nb::make_tuple(chunk, left_out.empty, left_out.wordless, foreign, left_out.line);
      },
      "text"_a, "discontinuous"_a, "final"_a, "skip"_a, "keep_wrapper"_a = false, "leaves"_a = 0,
      "helsinki"_a = false, "guessed"_a = false, "keep_empty"_a = false, "keep_lemmas"_a = false,
      "known"_a = nb::none(),
      "Read the complete trees of a piece of text: ((columns, bytes consumed, lines consumed, problems, "
      "fatal, opened), empty leaves, units without words, the first leaf of another dialect, its line).");

  m.def(
      "survey_brackets",
      [](const nb::bytes& text) {
        const treemean::BracketSurvey found = treemean::survey_brackets(view(text));
        nb::dict result;
        result["words"] = found.words;
        result["single"] = found.single;
        result["pairs"] = found.pairs;
        result["others"] = found.others;
        result["equal"] = found.equal;
        result["alike"] = found.alike;
        result["slashes"] = found.slashes;
        result["hyphens"] = found.hyphens;
        result["ids"] = found.ids;
        result["codes"] = found.codes;
        result["empty"] = found.empty;
        return result;
      },
      "text"_a, "Count what the leaves of a piece of text look like; see dialects.hpp.");

  m.def(
      "read_alpino",
      [](const nb::bytes& text, bool final, bool skip, treemean::Vocabularies* known) {
        treemean::ReadResult result;
        {
          const nb::gil_scoped_release released;
          result = treemean::read_alpino(view(text), {.final = final, .skip = skip, .known = known});
        }
        return to_python(std::move(result));
      },
      "text"_a, "final"_a, "skip"_a, "known"_a = nb::none(),
      "Read the complete sentences of a piece of Alpino XML; returns the first item of what read_brackets "
      "returns.");

  m.def(
      "write_brackets",
      [](const Trees& trees, const Texts& words, const Texts& tags, const Texts& labels, bool positions) {
        const treemean::BracketColumns columns{view(trees), view(words), view(tags), view(labels)};
        std::string text;
        {
          const nb::gil_scoped_release released;
          text = treemean::write_brackets(columns, positions);
        }
        return nb::bytes(text.data(), text.size());
      },
      "trees"_a, "words"_a, "tags"_a, "labels"_a, "positions"_a,
      "Return trees as brackets, one per line. `trees` are word offsets, constituent offsets and bits; the "
      "others "
      "are codes with the bytes and the offsets of their vocabulary.");

  m.def(
      "find_invalid",
      [](const Offsets& word_offsets, const Offsets& constituent_offsets, const BitWords& bits) {
        const nb::gil_scoped_release released;
        return treemean::find_invalid({span_of(word_offsets), span_of(constituent_offsets), span_of(bits)});
      },
      "word_offsets"_a, "constituent_offsets"_a, "bits"_a,
      "Return (sentence, what is wrong) of the first sentence whose columns are not a tree, or None.");

  m.attr("LIMITS") = nb::make_tuple(treemean::max_words, treemean::max_nodes, treemean::max_depth,
                                    treemean::max_cells, treemean::max_pieces);

  treemean::bind_plain(m);
  treemean::bind_averaging(m);
}
