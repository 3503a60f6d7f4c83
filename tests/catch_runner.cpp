#define CATCH_CONFIG_RUNNER
#include "tests/catch.h"
#include "tests/run_tests.h"

int headscope::test::run_tests(int argc, char** argv) {
    return Catch::Session().run(argc, argv);
}
