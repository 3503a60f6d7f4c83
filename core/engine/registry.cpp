#include "core/base/error.h"
#include "core/base/joined.h"
#include "core/base/message.h"
#include "core/engine/auto_backend.h"
#include "core/engine/backend_engine.h"
#include "core/engine/cpu/cpu_engine.h"
#include "core/engine/cpu/graph_backend.h"
#include "core/engine/cpu/kernels/kernels.h"
#include "core/engine/cpu/long_map.h"
#include "core/engine/engine.h"
#include "core/engine/fallback_map.h"
#include "core/engine/vulkan/devices.h"
#include "core/engine/vulkan/graph_backend.h"
#include "core/engine/vulkan/long_map.h"

#include <algorithm>
#include <fstream>
#include <string_view>
#include <thread>

namespace headscope::engine {

namespace {

constexpr std::string_view vulkan_prefix = "vulkan:";

/// The processor's own name, as the kernel reports it.
std::string processor_name() {
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line);)
        if (line.starts_with("model name"))
            if (const auto colon = line.find(": "); colon != std::string::npos)
                return line.substr(colon + 2);
    return tr("registry.processor", "processor");
}

/// The usable device for "vulkan": a graphics processor is preferred to software.
const Device* first_vulkan(const DeviceList& found, bool real_only) {
    const Device* software = nullptr;
    for (const Device& device : found.devices) {
        if (device.id == "cpu" || !device.usable)
            continue;
        if (device.is_hardware)
            return &device;
        if (software == nullptr)
            software = &device;
    }
    return real_only ? nullptr : software;
}

std::size_t number_of(const std::string& id) {
    return std::stoul(id.substr(vulkan_prefix.size()));
}

std::unique_ptr<run::Backend> make_cpu_backend() {
    return std::make_unique<cpu::CpuBackend>(cpu::make_cpu_machine());
}

std::unique_ptr<run::Backend> make_vulkan_backend(const std::string& id) {
    return std::make_unique<vulkan::VulkanBackend>(number_of(id), make_cpu_backend());
}

/// Creates the backend of the graphics processor that `auto` uses for large work; null without one.
std::unique_ptr<run::Backend> make_real_gpu() {
    const DeviceList found = devices();
    const Device* gpu = first_vulkan(found, true);
    return gpu == nullptr ? nullptr : make_vulkan_backend(gpu->id);
}

/// The device id for "vulkan" or "vulkan:N". Throws Error(machine), which lists the available devices.
std::string vulkan_id(const std::string& id) {
    const DeviceList found = devices();
    const bool vulkan = id == "vulkan" || id.starts_with(vulkan_prefix);
    if (vulkan && !found.no_vulkan_reason.empty())
        throw Error(ErrorKind::machine, found.no_vulkan_reason);
    if (id == "vulkan")
        if (const Device* device = first_vulkan(found, false))
            return device->id;
    if (std::ranges::find(found.devices, id, &Device::id) != found.devices.end())
        return id;
    throw Error(ErrorKind::machine, tr("registry.no_device_machine_auto",
                                       "there is no device \"{}\" on this machine; it has {} (or auto)", id,
                                       joined(found.devices, &Device::id)));
}

/// The id of the device that computes the map.
std::string map_device_id(const std::string& id, const Dims& dims) {
    if (id == "cpu")
        return id;
    if (id != "auto")
        return vulkan_id(id);
    const double flops = 2.0 * static_cast<double>(dims.Tq) * static_cast<double>(dims.Tk * dims.dk);
    return flops >= min_gpu_flops ? auto_choice(devices()).id : "cpu";
}

} // namespace

Device cpu_device() {
    const unsigned threads = std::max(1U, std::thread::hardware_concurrency());
    return {.id = "cpu",
            .name = processor_name(),
            .detail = tr_n("registry.thread", "{} thread, {}", "{} threads, {}", threads, threads,
                           cpu::best_kernels().name)};
}

DeviceList devices() {
    DeviceList found{{cpu_device()}, {}};
    try {
        for (const vulkan::VulkanDevice& device : vulkan::vulkan_devices())
            found.devices.push_back({std::string(vulkan_prefix) + std::to_string(found.devices.size() - 1),
                                     device.name, device.detail, device.is_hardware, device.usable});
    } catch (const Error& fault) {
        found.no_vulkan_reason = fault.what();
    }
    return found;
}

AutoChoice auto_choice(const DeviceList& found) {
    if (const Device* gpu = first_vulkan(found, true))
        return {gpu->id,
                tr("registry.run_gflop_more_gains",
                   "a run of {} GFLOP or more gains from a graphics processor; smaller ones stay on the CPU",
                   static_cast<int>(min_gpu_flops / 1e9))};
    if (first_vulkan(found, false) != nullptr)
        return {"cpu",
                tr("registry.vulkan_device_here_software",
                   "the Vulkan device here is software, slower than the CPU engine, and runs only when it "
                   "is named")};
    return {"cpu", tr("registry.no_graphics_processor_here",
                      "there is no graphics processor here that can be used")};
}

std::unique_ptr<Engine> make_engine(const std::string& id) {
    return std::make_unique<BackendEngine>(make_backend(id));
}

std::unique_ptr<run::Backend> make_backend(const std::string& id) {
    if (id == "cpu")
        return make_cpu_backend();
    if (id == "auto")
        return std::make_unique<AutoBackend>(make_cpu_backend(), make_real_gpu);
    return make_vulkan_backend(vulkan_id(id));
}

std::unique_ptr<WeightsMap> make_map(const std::string& id, const Problem& problem, std::int64_t b,
                                     std::int64_t h, Progress& progress, MapErrorPolicy failure) {
    const FallbackMap::Make make = [problem, b, h](const std::string& of,
                                                   Progress& watched) -> std::unique_ptr<WeightsMap> {
        const std::string device = map_device_id(of, problem.dims);
        if (device == "cpu") {
            const std::unique_ptr<Engine> projections = make_engine(of);
            return std::make_unique<cpu::LongMap>(problem, b, h, *projections, cpu::make_cpu_machine(),
                                                  watched);
        }
        const std::unique_ptr<Engine> projections = make_engine(device);
        return std::make_unique<vulkan::LongMap>(problem, b, h, *projections,
                                                 vulkan::map_device(number_of(device)), watched);
    };
    if (id == "auto" || failure == MapErrorPolicy::fall_back_to_cpu)
        return std::make_unique<FallbackMap>(id, make, progress);
    return make(id, progress);
}

} // namespace headscope::engine
