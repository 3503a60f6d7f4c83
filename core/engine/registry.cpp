#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/kernels/kernels.h"
#include "core/engine/engine.h"

#include <algorithm>
#include <fstream>
#include <thread>

namespace headscope {

namespace {

/// The processor's own name, as the kernel gives it.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos)
                return line.substr(colon + 2);
    return "processor";
}

} // namespace

std::vector<Device> devices() {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    return {{"cpu", processor_name(),
             std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + best_kernels().name}};
}

std::unique_ptr<Engine> make_engine(const std::string& id) {
    if (id == "auto" || id == "cpu")
        return std::make_unique<CpuEngine>();
    std::string known;
    for (const Device& device : devices())
        known += (known.empty() ? "" : ", ") + device.id;
    throw Error(ErrorKind::machine,
                "there is no device \"" + id + "\" on this machine; it has " + known + " (or auto)");
}

} // namespace headscope
