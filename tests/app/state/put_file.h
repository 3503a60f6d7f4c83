#pragma once

#include "tests/temporary_folder.h"

#include <fstream>
#include <string>

namespace headscope::test {

using namespace headscope::app;

inline void put_file(const TemporaryFolder& folder, const std::string& name, std::size_t bytes = 1) {
    std::ofstream(folder.file(name)) << std::string(bytes, 'x');
}

} // namespace headscope::test
