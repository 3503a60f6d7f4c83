#include "tests/run_tests.h"

int main(int argc, char** argv) {
    return headscope::test::run_tests(argc, argv);
}

// Fontconfig and Pango keep what they read until the process ends, and free it nowhere.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig.so\n";
}
