#include "app/cli/cli.h"

namespace headscope {

int run_command_line(int, char**) {
    return 0;
}

} // namespace headscope
