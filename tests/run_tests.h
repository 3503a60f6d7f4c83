#pragma once

namespace headscope::test {

/// Catch2's main function: runs the tests that the arguments name. Returns the exit code.
int run_tests(int argc, char** argv);

} // namespace headscope::test
