#include <exception>
#include <iostream>

#include "check.hpp"

int main() {
  int failed = 0;
  for (const treemean::testing::Test& test : treemean::testing::all_tests()) {
    try {
      test.run();
    } catch (const std::exception& error) {
      std::cerr << "FAILED " << test.name << "\n  " << error.what() << '\n';
      ++failed;
    }
  }
  std::cout << treemean::testing::all_tests().size() << " tests of the core, " << failed << " failed\n";
  return failed == 0 ? 0 : 1;
}
