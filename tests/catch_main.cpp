#define CATCH_CONFIG_MAIN
#include "tests/catch.h"

// Fontconfig and Pango keep what they read until the process ends, and free it nowhere.
extern "C" const char* __lsan_default_suppressions();
extern "C" const char* __lsan_default_suppressions() {
    return "leak:libfontconfig.so\n";
}
