// Columns, XML, the readers, the writer, and the check of columns from outside.
#include <string>

#include "alpino.hpp"
#include "bracket_writer.hpp"
#include "brackets.hpp"
#include "check.hpp"
#include "columns.hpp"
#include "dialects.hpp"
#include "read_error.hpp"
#include "validity.hpp"
#include "xml.hpp"

namespace {

using namespace treemean;
using namespace std::string_literals;

CodedView view(const CodedStrings& strings) {
  return {strings.codes, strings.vocabulary.data, strings.vocabulary.offsets};
}

TreeColumns trees_of(const Columns& columns) {
  return {columns.word_offsets, columns.constituent_offsets, columns.bits};
}

std::string written(const Columns& columns) {
  return write_brackets({trees_of(columns), view(columns.words), view(columns.tags), view(columns.labels)},
                        true);
}

TEST(coded_strings_know_what_they_have_seen) {
  CodedStrings strings;
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 1000; ++i) strings.push(std::to_string(i));
  }
  CHECK(strings.vocabulary.offsets.size() == 1001 && strings.codes.size() == 2000);
  for (std::size_t i = 0; i < 1000; ++i) {
    CHECK(strings.codes[i] == static_cast<std::int32_t>(i) && strings.codes[i + 1000] == strings.codes[i]);
    CHECK(view(strings).at(i) == std::to_string(i));
  }
}

TEST(utf8_is_checked_to_the_letter) {
  for (const char* good :
       {"", "plain text, longer than eight bytes", "é", "€uro", "\xF0\x9F\x8C\xB3", "\xF4\x8F\xBF\xBF"}) {
    CHECK(is_valid_utf8(good));
  }
  for (const char* bad : {"\x80", "\xC3", "\xC0\xAF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF4\x90\x80\x80",
                          "\xFF", "12345678\xC3("}) {
    CHECK(!is_valid_utf8(bad));
  }
}

TEST(lines_are_counted_forwards_and_backwards) {
  LineCounter lines("a\nb\n\nc");
  CHECK(lines.before(6) == 3 && lines.before(2) == 1 && lines.before(0) == 0 && lines.before(4) == 2);
}

TEST(brackets_come_back_as_they_were) {
  const std::string text = "(S (VP (V 0=Wake) (P 3=up)) (NP (D 1=your) (N 2=friend)))\n(X (Y 0=a))\n";
  const BracketResult result = read_brackets(text, {.discontinuous = true}, {});
  CHECK(result.problems.empty() && result.consumed == text.size() && result.lines == 2);
  CHECK(written(result.columns) == text);
  CHECK(!find_invalid(trees_of(result.columns)));
}

TEST(a_bad_record_is_named_and_can_be_skipped) {
  const std::string text = "(S (A 0=a))\n(S (A x=b))\n(S (A 0=c))\n";
  const BracketResult stopped = read_brackets(text, {.discontinuous = true}, {.final = true, .skip = false});
  CHECK(stopped.columns.sentences() == 1 && stopped.problems.size() == 1 && stopped.problems[0].line == 2);
  const BracketResult skipped = read_brackets(text, {.discontinuous = true}, {.final = true, .skip = true});
  CHECK(skipped.columns.sentences() == 2 && skipped.problems.size() == 1 &&
        skipped.problems[0].sentence == 1);
}

TEST(an_incomplete_tree_waits_for_the_rest) {
  const BracketResult result =
      read_brackets("(S (A 0=a))\n(S (A 0=", {.discontinuous = true}, {.final = false});
  CHECK(result.columns.sentences() == 1 && result.problems.empty() && result.consumed == 12);
}

TEST(zero_bytes_in_messages_are_kept) {
  const BracketResult result = read_brackets("(S (A x\0y))\n"s, {.discontinuous = true}, {});
  CHECK(result.problems.size() == 1 && result.problems[0].message.find("x\0y"s) != std::string::npos);
  const ReadError error("a\0b"s, 7);
  CHECK(error.message().size() == 3 && error.what() == "a"s && error.at() == 7);
  CHECK_THROWS(std::exception, throw Incomplete());
}

TEST(escapes_of_brackets_are_undone_once) {
  CHECK(unescaped("a-LRB-b#RRB#", false) == "a(b#RRB#" && unescaped("a-LRB-b#RRB#", true) == "a(b)");
  CHECK(unescaped("-~LRB-", false) == "-LRB-" && unescaped("-~~LSB", false) == "-~LSB");
  CHECK(unescaped("-LRB", false) == "-LRB" && unescaped("-LRB-LRB-", false) == "(LRB-");
  CHECK(may_be_escaped("x#~RCB") && !may_be_escaped("Balthasar") && !may_be_escaped("LRB"));
}

TEST(leaves_of_dialects_are_told_apart) {
  for (const char* leaf : {"0", "*", "*T*-1", "*con*", "*-2", "*0*"}) CHECK(is_empty_leaf(leaf));
  for (const char* leaf : {"", "**", "*a", "*T*-", "*-*", "0.5", "a*"}) CHECK(!is_empty_leaf(leaf));
  CHECK(is_surely_empty("*ICH*-3") && is_surely_empty("*CON*") && !is_surely_empty("*sigh*"));
  CHECK(is_punctuation("»\"") && is_punctuation("…") && !is_punctuation("é") && !is_punctuation(""));
  CHECK(hyphen_before_lemma("a-b-c") == 3 && hyphen_before_lemma("---") == 1);
  CHECK(hyphen_before_lemma("-b") == std::string_view::npos && hyphen_before_lemma("mynda--mynd") == 6);
  CHECK(has_tag_after_slash("1/2/CD") && !has_tag_after_slash("and/or") && !has_tag_after_slash("/NN"));
}

TEST(what_is_left_out_is_counted) {
  const BracketDialect dialect{.helsinki = true, .keep_lemmas = false};
  const std::string text = "( (CODE <x>))\n( (S (NP *con*) (V a) (C 0)) (ID i.1))\n";
  const BracketResult result = read_brackets(text, dialect, {});
  CHECK(result.columns.sentences() == 1 && result.left_out.empty == 2 && result.left_out.wordless == 1);
  const BracketResult guessed = read_brackets(text, {.guessed = true}, {});
  CHECK(guessed.left_out.line == 1 && guessed.left_out.foreign.find("CODE") != std::string::npos);
}

TEST(alpino_words_stand_by_their_number) {
  const std::string text =
      "<alpino_ds><node cat=\"top\"><node cat=\"x\" rel=\"hd\"><node begin=\"0\" pos=\"v\" word=\"a\"/>"
      "<node begin=\"2\" pos=\"p\" word=\"&lt;c\"/></node><node begin=\"1\" pos=\"n\" "
      "word=\"b\"/></node></alpino_ds>\n";
  const ReadResult result = read_alpino(text, {});
  CHECK(result.problems.empty());
  CHECK(written(result.columns) == "(top (x (v 0=a) (p 2=<c)) (n 1=b))\n");
  const ReadResult broken = read_alpino("<alpino_ds><node></alpino_ds>\n<!DOCTYPE x>", {.skip = true});
  CHECK(broken.problems.size() == 2 && broken.fatal);
}

TEST(xml_expands_no_entities_of_its_own) {
  CHECK(xml::unescaped("&#65;&#x20AC;&amp;\n", 0) == "A\xE2\x82\xAC& ");
  CHECK_THROWS(ReadError, xml::unescaped("&own;", 0));
  CHECK_THROWS(ReadError, xml::unescaped("&#xD800;", 0));
  xml::Scanner scanner("<?p?><!-- c --><a b='1'>t</a><c/>");
  CHECK(scanner.next() == xml::Event::start && scanner.name() == "a" && scanner.raw_attribute("b") == "1");
  CHECK(scanner.next() == xml::Event::text && scanner.next() == xml::Event::end);
  CHECK(scanner.next() == xml::Event::empty && scanner.next() == xml::Event::done);
  CHECK_THROWS(ReadError, xml::Scanner("<!DOCTYPE x>").next());
  CHECK_THROWS(Incomplete, xml::Scanner("<a b='").next());
  CHECK_THROWS(ReadError, xml::Scanner("<a b='1' b='2'>").next());
}

TEST(columns_that_are_no_trees_are_found) {
  const std::vector<std::int64_t> words{0, 3}, one{0, 1}, two{0, 2}, huge{0, std::int64_t{1} << 62};
  const std::vector<std::uint64_t> root{0b111}, nested{0b111, 0b011}, beyond{0b1111}, no_root{0b011};
  CHECK(!find_invalid({words, one, root}) && !find_invalid({words, two, nested}));
  CHECK(find_invalid({words, one, beyond})->second.ends_with("goes beyond the last word"));
  CHECK(find_invalid({words, one, no_root})->second.ends_with("does not span the whole sentence"));
  CHECK(find_invalid({words, two, root})->second == "fewer bits than the constituents need");
  CHECK(find_invalid({words, one, nested})->second == "more bits than the constituents need");
  CHECK(find_invalid({huge, huge, root})->second == "fewer bits than the constituents need");
  CHECK(find_invalid({two, words, root}).has_value());
}

}  // namespace
