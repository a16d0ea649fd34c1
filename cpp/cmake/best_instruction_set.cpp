// Prints the best instruction set of the machine that builds: a development build has no other.
#include <cstdio>

#include "core/support/instruction_sets.hpp"

int main() { std::puts(arcmeans::instruction_sets().back().c_str()); }
