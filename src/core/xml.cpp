#include "xml.hpp"

#include <algorithm>
#include <cstdint>

#include "read_error.hpp"
#include "utf8.hpp"

namespace treemean::xml {
namespace {

// Far more than any node has; attributes are looked up one by one.
constexpr std::size_t max_attributes = 256;

bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }

bool ends_name(char c) {
  return is_space(c) || c == '=' || c == '/' || c == '>' || c == '<' || c == '"' || c == '\'';
}

// The character of a reference such as #233 or #xE9; throws ReadError if there is none.
std::uint32_t referenced(std::string_view reference, std::size_t at) {
  const bool hexadecimal = reference.size() > 1 && reference[1] == 'x';
  std::uint32_t code = 0;
  std::size_t i = hexadecimal ? 2 : 1;
  bool good = i < reference.size();
  for (; good && i < reference.size(); ++i) {
    const char c = reference[i];
    const int digit = c >= '0' && c <= '9'                  ? c - '0'
                      : hexadecimal && c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : hexadecimal && c >= 'A' && c <= 'F' ? c - 'A' + 10
                                                            : -1;
    good = digit >= 0 && code < 0x110000;
    code = code * (hexadecimal ? 16 : 10) + static_cast<std::uint32_t>(digit);
  }
  if (!good || code == 0 || code >= 0x110000 || (code >= 0xD800 && code < 0xE000)) {
    throw ReadError{"&" + std::string(reference.substr(0, 12)) + "; is not a character", at};
  }
  return code;
}

}  // namespace

void Scanner::skip_past(std::string_view end) {
  const std::size_t found = text_.find(end, at_);
  if (found == std::string_view::npos) throw Incomplete{};
  at_ = found + end.size();
}

Event Scanner::next() {
  while (true) {
    begin_ = at_;
    if (at_ == text_.size()) return Event::done;
    if (text_[at_] != '<') {
      at_ = std::min(text_.find('<', at_), text_.size());
      return Event::text;
    }
    const std::string_view rest = text_.substr(at_);
    if (rest.starts_with("<?")) {
      skip_past("?>");
    } else if (rest.starts_with("<!--")) {
      at_ += 4;
      skip_past("-->");
    } else if (rest.starts_with("<![CDATA[")) {
      skip_past("]]>");
      return Event::text;
    } else if (rest.starts_with("<!")) {
      if (rest.size() < 9 &&
          (std::string_view("<![CDATA[").starts_with(rest) || std::string_view("<!--").starts_with(rest))) {
        throw Incomplete{};
      }
      throw ReadError{"a document type declaration, which is refused (no entities are expanded)", at_};
    } else {
      return read_tag();
    }
  }
}

Event Scanner::read_tag() {
  const auto peek = [&] {
    if (at_ == text_.size()) throw Incomplete{};
    return text_[at_];
  };
  const auto skip_spaces = [&] {
    while (is_space(peek())) ++at_;
  };
  const auto read_name = [&] {
    const std::size_t start = at_;
    while (!ends_name(peek())) ++at_;
    if (at_ == start) throw ReadError{"a name is missing", at_};
    return text_.substr(start, at_ - start);
  };

  ++at_;
  const bool end = peek() == '/';
  at_ += end;
  name_ = read_name();
  attributes_.clear();
  while (true) {
    skip_spaces();
    const char c = peek();
    if (c == '>') {
      ++at_;
      return end ? Event::end : Event::start;
    }
    if (end) throw ReadError{"unexpected text in the end tag </" + std::string(name_.substr(0, 40)), at_};
    if (c == '/') {
      ++at_;
      if (peek() != '>') throw ReadError{"a / inside the tag <" + std::string(name_.substr(0, 40)), at_};
      ++at_;
      return Event::empty;
    }
    const std::string_view attribute = read_name();
    skip_spaces();
    if (peek() != '=')
      throw ReadError{"the attribute " + std::string(attribute.substr(0, 40)) + " has no value", at_};
    ++at_;
    skip_spaces();
    const char quote = peek();
    if (quote != '"' && quote != '\'') {
      throw ReadError{"the value of " + std::string(attribute.substr(0, 40)) + " is not in quotes", at_};
    }
    const std::size_t start = ++at_;
    const std::size_t stop = text_.find(quote, start);
    if (stop == std::string_view::npos) throw Incomplete{};
    const std::string_view value = text_.substr(start, stop - start);
    if (value.find('<') != std::string_view::npos) {
      throw ReadError{"a < inside the value of " + std::string(attribute.substr(0, 40)), start};
    }
    at_ = stop + 1;
    if (raw_attribute(attribute).data() != nullptr) {
      throw ReadError{"the attribute " + std::string(attribute.substr(0, 40)) + " is given twice", start};
    }
    if (attributes_.size() == max_attributes) {
      throw ReadError{"more than " + std::to_string(max_attributes) + " attributes", start};
    }
    attributes_.emplace_back(attribute, value);
  }
}

std::string_view Scanner::raw_attribute(std::string_view name) const {
  for (const auto& [key, value] : attributes_) {
    if (key == name) return value;
  }
  return {};
}

std::string unescaped(std::string_view raw, std::size_t at) {
  std::string out;
  out.reserve(raw.size());
  for (std::size_t i = 0; i < raw.size();) {
    if (raw[i] != '&') {
      out += is_space(raw[i]) ? ' ' : raw[i];  // white space in attributes counts as blanks
      ++i;
      continue;
    }
    const std::size_t end = raw.find(';', i);
    if (end == std::string_view::npos) throw ReadError{"an & that begins no entity", at + i};
    const std::string_view entity = raw.substr(i + 1, end - i - 1);
    if (entity == "amp") out += '&';
    else if (entity == "lt") out += '<';
    else if (entity == "gt") out += '>';
    else if (entity == "quot") out += '"';
    else if (entity == "apos") out += '\'';
    else if (entity.starts_with('#')) append_utf8(out, referenced(entity, at + i));
    else throw ReadError{"the entity &" + std::string(entity.substr(0, 40)) + "; is not expanded", at + i};
    i = end + 1;
  }
  return out;
}

}  // namespace treemean::xml
