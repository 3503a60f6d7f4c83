#include "core/engine/sure_map.h"

#include "core/base/error.h"
#include "core/base/memory.h"

#include <utility>

namespace headscope::engine {

template<class Ask>
std::invoke_result_t<Ask> SureMap::answer(Progress& progress, const Ask& ask) const {
    try {
        return ask();
    } catch (const MemoryShortage&) {
        throw; // the CPU would need the same memory
    } catch (const Error& fault) {
        if (fault.kind() != ErrorKind::machine || on_cpu_)
            throw;
        fallen_ = fault.what();
    }
    map_ = make_("cpu", progress);
    on_cpu_ = true;
    return ask();
}

SureMap::SureMap(const std::string& id, Make make, Progress& progress) : make_(std::move(make)) {
    answer(progress, [&] {
        if (map_ == nullptr)
            map_ = make_(id, progress);
    });
    device_ = map_->device();
}

Tensor SureMap::pooled(const MapPart& part, std::int64_t cells, Pooling pooling, Progress& progress) const {
    return answer(progress, [&] { return map_->pooled(part, cells, pooling, progress); });
}

std::vector<MapBand> SureMap::bands(std::span<const std::int64_t> which, std::int64_t cells,
                                    Progress& progress) const {
    return answer(progress, [&] { return map_->bands(which, cells, progress); });
}

} // namespace headscope::engine
