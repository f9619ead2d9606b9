// A small pull parser for XML in UTF-8. It knows elements, attributes, text, comments, processing
// instructions, CDATA and the five predefined entities. It refuses document type declarations, so no entity
// is ever expanded and nothing outside the document is ever opened.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace treemean::xml {

enum class Event { start, end, empty, text, done };  // empty: <a/>, which has no end

class Scanner {
 public:
  explicit Scanner(std::string_view text, std::size_t at = 0) : text_(text), at_(at) {}

  // Moves to the next event; comments and processing instructions are passed over. Throws ReadError, or
  // Incomplete where the text ends inside a piece of markup.
  Event next();

  std::string_view name() const { return name_; }
  std::size_t begin() const { return begin_; }  // of the current event
  std::size_t position() const { return at_; }  // after the current event

  // The raw value of an attribute of the current start tag, with an empty data() if it is absent.
  std::string_view raw_attribute(std::string_view name) const;

 private:
  void skip_past(std::string_view end);
  Event read_tag();

  std::string_view text_;
  std::size_t at_, begin_ = 0;
  std::string_view name_;
  std::vector<std::pair<std::string_view, std::string_view>> attributes_;
};

// Replaces character references and predefined entities; throws ReadError on any other entity.
std::string unescaped(std::string_view raw, std::size_t at);
inline bool needs_unescaping(std::string_view raw) {
  return raw.find_first_of("&\n\t\r") != std::string_view::npos;
}

}  // namespace treemean::xml
