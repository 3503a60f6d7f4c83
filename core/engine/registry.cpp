#include "core/base/error.h"
#include "core/engine/cpu/cpu_engine.h"
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

const char* instruction_set() {
#if defined(__AVX512F__)
    return "AVX-512";
#elif defined(__AVX2__)
    return "AVX2";
#elif defined(__SSE2__)
    return "SSE2";
#else
    return "baseline";
#endif
}

} // namespace

std::vector<Device> devices() {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    return {{"cpu", processor_name(),
             std::to_string(threads) + (threads == 1 ? " thread, " : " threads, ") + instruction_set()}};
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
