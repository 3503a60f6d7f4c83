#include "core/engine/vulkan/long_map.h"

#include "core/base/error.h"
#include "core/base/message.h"
#include "core/engine/head_projection.h"
#include "core/engine/vulkan/attention_nodes.h"
#include "core/engine/vulkan/devices.h"
#include "core/engine/vulkan/head_map.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <utility>

namespace headscope::vulkan {

struct MapDevice {
    MapDevice(std::size_t number, const VulkanOptions& options)
        : name(device_name(number)), gpu(number, options), share(options.shared_tiles) {}

    std::string name;
    Gpu gpu;
    bool share;                       ///< see Kernels
    std::atomic<bool> failed = false; ///< not reused for further maps

    /// Frees the map's device memory: now, or when the running call of another map ends, so that destroying a
    /// map never blocks.
    void release_map(std::unique_ptr<HeadMap> map) {
        const std::unique_lock idle(device_mutex_, std::try_to_lock);
        const std::scoped_lock lock(pending_release_mutex_);
        if (idle)
            map.reset();
        else
            pending_release_.push_back(std::move(map));
    }
    /// Exclusive use of the device by a map. Its end runs all recorded commands, because they may read memory
    /// that the map frees.
    class ExclusiveUse {
    public:
        explicit ExclusiveUse(MapDevice& device) : device_(device), lock_(device.device_mutex_) {}
        ExclusiveUse(const ExclusiveUse&) = delete;
        ExclusiveUse& operator=(const ExclusiveUse&) = delete;
        ~ExclusiveUse() {
            try {
                device_.gpu.finish();
            } catch (const Error&) {
                device_.failed = true;
            }
            const std::scoped_lock lock(device_.pending_release_mutex_);
            device_.pending_release_.clear();
        }

    private:
        MapDevice& device_;
        std::scoped_lock<std::mutex> lock_;
    };

private:
    std::mutex device_mutex_, pending_release_mutex_;
    std::vector<std::unique_ptr<HeadMap>> pending_release_; ///< must be destroyed before `gpu`
};

std::shared_ptr<MapDevice> map_device(std::size_t number) {
    static std::mutex opening;
    static std::map<std::size_t, std::weak_ptr<MapDevice>> open;
    const std::scoped_lock lock(opening);
    std::shared_ptr<MapDevice> device = open[number].lock();
    if (device == nullptr || device->failed)
        open[number] = device = map_device(number, {});
    return device;
}

std::shared_ptr<MapDevice> map_device(std::size_t number, const VulkanOptions& options) {
    return std::make_shared<MapDevice>(number, options);
}

struct LongMap::State {
    std::shared_ptr<MapDevice> device;
    std::unique_ptr<HeadMap> head;

    explicit State(std::shared_ptr<MapDevice> of) : device(std::move(of)) {}
    State(const State&) = delete;
    State& operator=(const State&) = delete;
    ~State() { device->release_map(std::move(head)); }

    /// Calls `call` while this map has exclusive use of the device.
    template<class Call>
    auto with_device(const Progress& progress, const Call& call) {
        const MapDevice::ExclusiveUse work(*device);
        progress.check();
        try {
            return call();
        } catch (const Error& fault) {
            device->failed = device->failed || fault.kind() == ErrorKind::machine;
            throw;
        }
    }
};

namespace {

/// The parts that the bands cover, with adjacent bands combined.
std::vector<MapPart> parts_under(std::span<const std::int64_t> bands, std::int64_t cells, std::int64_t rows,
                                 std::int64_t cols) {
    std::vector<MapPart> parts;
    for (const std::int64_t band : bands) {
        const std::int64_t first = band * cells, count = std::min(cells, rows - first);
        if (!parts.empty() && parts.back().row + parts.back().rows == first)
            parts.back().rows += count;
        else
            parts.push_back({first, 0, count, cols});
    }
    return parts;
}

/// A view of a row of pixels, each with two numbers: its largest weight and the sum over `queries` queries.
class PixelRow {
public:
    PixelRow(const float* pixels, std::int64_t queries, std::int64_t cells, std::int64_t cols)
        : pixels_(pixels), queries_(queries), cells_(cells), cols_(cols) {}
    std::int64_t width() const { return divide_rounding_up(cols_, cells_); }
    float largest(std::int64_t col) const { return pixels_[2 * col]; }
    float mean(std::int64_t col) const {
        const std::int64_t weights = queries_ * std::min(cells_, cols_ - col * cells_);
        return static_cast<float>(static_cast<double>(pixels_[2 * col + 1]) / static_cast<double>(weights));
    }

private:
    const float* pixels_;
    std::int64_t queries_, cells_, cols_;
};

} // namespace

LongMap::LongMap(const Problem& problem, std::int64_t b, std::int64_t h, engine::Engine& projections,
                 std::shared_ptr<MapDevice> device, Progress& progress)
    : dims_(problem.dims) {
    validate(problem);
    if (!has_score_kernels(problem))
        throw Error(ErrorKind::machine,
                    tr("long_map.no_score_kernels",
                       "scores with terms by relative position, and with masks of chunks, are computed on "
                       "the CPU alone; use --device cpu"));
    engine::check_head(dims_, b, h);
    // The queries and keys, and a copy of both in the device's layout.
    require_map_memory(2 * static_cast<std::uint64_t>(padded(dims_.dk)) *
                           static_cast<std::uint64_t>(dims_.Tq + dims_.Tk),
                       tr("common.take_fewer_tokens", "take fewer tokens"));
    const engine::ProjectedHead head = engine::project_head(problem, b, h, projections, progress);
    state_.reset(new State(std::move(device)));
    state_->with_device(progress, [&] {
        state_->head =
            std::make_unique<HeadMap>(problem, b, h, head, state_->device->gpu, state_->device->share);
    });
}

LongMap::~LongMap() = default;

std::string LongMap::device() const {
    return state_->device->name;
}

Tensor LongMap::pooled(const MapPart& part, std::int64_t cells, Pooling pooling, Progress& progress) const {
    check_part(rows(), cols(), part);
    const std::int64_t height = divide_rounding_up(part.rows, cells),
                       width = divide_rounding_up(part.cols, cells);
    require_map_memory(
        static_cast<std::uint64_t>(height) * static_cast<std::uint64_t>(width),
        tr("common.take_smaller_rectangle_overview", "take a smaller rectangle, or an overview"));
    return state_->with_device(progress, [&] {
        HeadMap& head = *state_->head;
        head.compute_new_softmax(part, progress);
        if (cells == 1)
            return head.weights(part, progress);
        Tensor out(Shape{height, width});
        const std::int64_t at_once = head.rows_of_pixels(width);
        for (std::int64_t first = 0; first < height; first += at_once) {
            const std::int64_t row = first * cells;
            const std::int64_t count = std::min(at_once * cells, part.rows - row);
            const std::vector<float> pixels =
                head.pool({{part.row + row, part.col, count, part.cols}}, cells, false, progress);
            for (std::int64_t p = first; p < std::min(first + at_once, height); ++p) {
                const PixelRow line(pixels.data() + 2 * (p - first) * width,
                                    std::min(cells, part.rows - p * cells), cells, part.cols);
                for (std::int64_t col = 0; col < width; ++col)
                    out.at(p, col) = pooling == Pooling::max ? line.largest(col) : line.mean(col);
            }
        }
        return out;
    });
}

std::vector<MapBand> LongMap::bands(std::span<const std::int64_t> which, std::int64_t cells,
                                    Progress& progress) const {
    const std::int64_t width = divide_rounding_up(cols(), cells);
    require_map_memory(
        2 * static_cast<std::uint64_t>(width) * which.size(),
        tr("common.take_fewer_pixels_command", "take fewer pixels (on the command line --overview)"));
    std::vector<MapBand> out;
    out.reserve(which.size());
    state_->with_device(progress, [&] {
        HeadMap& head = *state_->head;
        const auto at_once = static_cast<std::size_t>(head.rows_of_pixels(width));
        while (out.size() < which.size()) {
            const std::span some = which.subspan(out.size(), std::min(at_once, which.size() - out.size()));
            const std::vector<float> pixels =
                head.pool(parts_under(some, cells, rows(), cols()), cells, true, progress);
            for (std::size_t n = 0; n < some.size(); ++n) {
                const PixelRow line(pixels.data() + 2 * n * static_cast<std::size_t>(width),
                                    std::min(cells, rows() - some[n] * cells), cells, cols());
                MapBand& band = out.emplace_back();
                for (std::int64_t col = 0; col < width; ++col) {
                    band.largest.push_back(line.largest(col));
                    band.mean.push_back(line.mean(col));
                }
            }
        }
    });
    return out;
}

} // namespace headscope::vulkan
