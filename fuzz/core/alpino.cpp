// Alpino XML: what is read are trees, whether the text is complete or not.
#include "alpino.hpp"

#include <cstdint>

#include "fuzzing.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace treemean;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  for (const bool final : {false, true}) {
    for (const bool skip : {false, true})
      fuzzing::check_result(read_alpino(text, {.final = final, .skip = skip}), size);
  }
  return 0;
}
