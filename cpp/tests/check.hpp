// Tests of the core: TEST(name) { CHECK(...); CHECK_THROWS(...); }.
#pragma once

#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace check {

struct Test {
  std::string_view file;
  std::string_view name;
  std::function<void()> run;
};

inline std::vector<Test>& tests() {
  static std::vector<Test> all;
  return all;
}

struct Registered {
  Registered(std::string_view file, std::string_view name, void (*run)()) {
    tests().push_back({file, name, run});
  }
};

[[noreturn]] inline void failed(const char* file, int line, const std::string& what) {
  std::ostringstream text;
  text << file << ":" << line << ": " << what;
  throw std::runtime_error(text.str());
}

}  // namespace check

#define TEST(name)                                                                \
  static void test_##name();                                                      \
  static const check::Registered registered_##name(__FILE__, #name, test_##name); \
  static void test_##name()

#define CHECK(condition) \
  if (!(condition)) check::failed(__FILE__, __LINE__, #condition)

#define CHECK_THROWS(expression, exception)                                       \
  do {                                                                            \
    bool thrown = false;                                                          \
    try {                                                                         \
      static_cast<void>(expression);                                              \
    } catch (const exception&) {                                                  \
      thrown = true;                                                              \
    }                                                                             \
    if (!thrown) check::failed(__FILE__, __LINE__, #expression " did not throw"); \
  } while (false)
