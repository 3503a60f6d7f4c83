#include "app/cli/cli.h"

int main(int argc, char** argv) {
    return headscope::run_command_line(argc, argv);
}
