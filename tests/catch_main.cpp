#include "tests/run_tests.h"

int main(int argc, char** argv) {
    return headscope::test::run_tests(argc, argv);
}
