// What readers throw inside a record; whoever reads the record makes a `Problem` of it, or asks for more
// text.
#pragma once

#include <cstddef>
#include <exception>
#include <string>
#include <utility>

namespace treemean {

// Something that cannot be read, and where it stands.
class ReadError : public std::exception {
 public:
  ReadError(std::string message, std::size_t at) : message_(std::move(message)), at_(at) {}

  const char* what() const noexcept override { return message_.c_str(); }
  // The message may quote the text, zero bytes and all, of which `what` would show a part only.
  const std::string& message() const { return message_; }
  std::size_t at() const { return at_; }

 private:
  std::string message_;
  std::size_t at_;
};

// A record that is beyond the limits: however it goes on, it cannot be read.
class TooLarge : public ReadError {
 public:
  using ReadError::ReadError;
};

// The text ended inside a record, or inside a piece of markup.
class Incomplete : public std::exception {
 public:
  const char* what() const noexcept override { return "the text is not complete"; }
};

}  // namespace treemean
