// The Python face of the core: treemean._core. Private; the rooms in src/treemean wrap it.
#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <memory>

#include "alpino.hpp"
#include "averaging/bind.hpp"
#include "bracket_writer.hpp"
#include "brackets.hpp"
#include "numpy.hpp"
#include "validity.hpp"

namespace nb = nanobind;
using namespace nb::literals;
using treemean::span_of;
using treemean::to_numpy;

namespace {

nb::tuple to_python(treemean::Strings&& strings) {
  return nb::make_tuple(to_numpy(std::move(strings.data)), to_numpy(std::move(strings.offsets)));
}

nb::tuple to_python(treemean::CodedStrings&& strings) {
  return nb::make_tuple(to_numpy(std::move(strings.codes)), to_python(std::move(strings.vocabulary)));
}

nb::dict to_python(treemean::Columns&& columns) {
  nb::dict result;
  result["ids"] = to_python(std::move(columns.ids));
  result["comments"] = to_python(std::move(columns.comments));
  result["word_offsets"] = to_numpy(std::move(columns.word_offsets));
  result["words"] = to_python(std::move(columns.words));
  result["tags"] = to_python(std::move(columns.tags));
  result["word_functions"] = to_python(std::move(columns.word_functions));
  result["constituent_offsets"] = to_numpy(std::move(columns.constituent_offsets));
  result["labels"] = to_python(std::move(columns.labels));
  result["functions"] = to_python(std::move(columns.functions));
  result["bits"] = to_numpy(std::move(columns.bits));
  return result;
}

nb::tuple to_python(treemean::ReadResult&& result) {
  nb::list problems;
  for (const treemean::Problem& problem : result.problems) {
    const nb::bytes message(problem.message.data(), problem.message.size());
    problems.append(nb::make_tuple(message, problem.line, problem.begin, problem.end, problem.sentence));
  }
  return nb::make_tuple(to_python(std::move(result.columns)), result.consumed, result.lines, problems, result.fatal,
                        result.opened);
}

std::string_view view(const nb::bytes& data) { return {data.c_str(), data.size()}; }

using Offsets = treemean::Column<std::int64_t>;
using Codes = treemean::Column<std::int32_t>;
using Bytes = treemean::Column<std::uint8_t>;
using BitWords = treemean::Column<std::uint64_t>;

}  // namespace

NB_MODULE(_core, m) {
  m.doc() = "The native core of treemean: readers that fill columns, and checks of columns.";

  m.def(
      "read_brackets",
      [](const nb::bytes& text, bool discontinuous, bool final, bool skip) {
        treemean::ReadResult result;
        {
          nb::gil_scoped_release released;
          result = treemean::read_brackets(view(text), discontinuous, final, skip);
        }
        return to_python(std::move(result));
      },
      "text"_a, "discontinuous"_a, "final"_a, "skip"_a,
      "Read the complete trees of a piece of text: (columns, bytes consumed, lines consumed, problems, fatal, opened).");

  m.def(
      "read_alpino",
      [](const nb::bytes& text, bool final, bool skip) {
        treemean::ReadResult result;
        {
          nb::gil_scoped_release released;
          result = treemean::read_alpino(view(text), final, skip);
        }
        return to_python(std::move(result));
      },
      "text"_a, "final"_a, "skip"_a,
      "Read the complete sentences of a piece of Alpino XML; returns what read_brackets returns.");

  m.def(
      "write_brackets",
      [](const Offsets& word_offsets, const Offsets& constituent_offsets, const BitWords& bits, bool positions,
         const Codes& words, const Bytes& word_data, const Offsets& word_texts, const Codes& tags,
         const Bytes& tag_data, const Offsets& tag_texts, const Codes& labels, const Bytes& label_data,
         const Offsets& label_texts) {
        const treemean::BracketColumns columns{span_of(word_offsets),
                                               span_of(constituent_offsets),
                                               span_of(bits),
                                               {span_of(words), span_of(word_data), span_of(word_texts)},
                                               {span_of(tags), span_of(tag_data), span_of(tag_texts)},
                                               {span_of(labels), span_of(label_data), span_of(label_texts)}};
        std::string text;
        {
          nb::gil_scoped_release released;
          text = treemean::write_brackets(columns, positions);
        }
        return nb::bytes(text.data(), text.size());
      },
      "word_offsets"_a, "constituent_offsets"_a, "bits"_a, "positions"_a, "words"_a, "word_data"_a, "word_texts"_a,
      "tags"_a, "tag_data"_a, "tag_texts"_a, "labels"_a, "label_data"_a, "label_texts"_a,
      "Return trees as brackets, one per line; each text column is its codes and its vocabulary's bytes and offsets.");

  m.def(
      "find_invalid",
      [](const Offsets& word_offsets, const Offsets& constituent_offsets, const BitWords& bits) {
        nb::gil_scoped_release released;
        return treemean::find_invalid(span_of(word_offsets), span_of(constituent_offsets), span_of(bits));
      },
      "word_offsets"_a, "constituent_offsets"_a, "bits"_a,
      "Return (sentence, what is wrong) of the first sentence whose columns are not a tree, or None.");

  treemean::bind_averaging(m);
}
