// core_tests [FILE]: runs the tests, or those of one file; 1 if any fails.
#include <cstdio>
#include <exception>

#include "tests/check.hpp"

int main(int count, char** arguments) {
  const std::string_view wanted = count > 1 ? arguments[1] : "";
  int run = 0, failed = 0;
  for (const check::Test& test : check::tests()) {
    if (test.file.find(wanted) == std::string_view::npos) continue;
    ++run;
    try {
      test.run();
    } catch (const std::exception& error) {
      ++failed;
      std::printf("FAILED %.*s: %s\n", static_cast<int>(test.name.size()), test.name.data(),
                  error.what());
    }
  }
  std::printf("%d tests, %d failed\n", run, failed);
  return failed > 0 || run == 0;
}
