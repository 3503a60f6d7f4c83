#include "tests/test_data.h"

namespace headscope {

std::string test_data(const std::string& below) {
    return TEST_DATA + below;
}

} // namespace headscope
