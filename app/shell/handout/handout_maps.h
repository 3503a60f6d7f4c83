#pragma once

#include "core/engine/engine.h"
#include "core/lesson/lesson.h"
#include "core/lesson/lesson_model.h"
#include "core/project/recipe.h"

#include <cstdint>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace headscope::app {

/// The attention of one problem, whose arithmetic a handout shows.
struct HandoutMap {
    Problem problem;
    Trace trace; ///< all stages
    lesson::LessonModelPtr model = {};
    std::int64_t layer = 0;              ///< of the model
    std::string sentence;                ///< both sentences if there are two
    std::vector<std::string> roles = {}; ///< H texts, or empty
    project::Recipe recipe = {};         ///< of a problem that is not a checkpoint's
    std::string pass = {};               ///< of a checkpoint: text, layer and gains as one key

    /// Null if the problem has no such tensor.
    const Tensor* tensor(TensorId id) const {
        return model != nullptr ? lesson::tensor_of(*model, layer, id)
                                : lesson::tensor_of(problem, trace, id);
    }
    lesson::LessonState state() const {
        return {.problem = problem, .trace = trace, .model = model.get(), .layer = layer};
    }
};

/// The problems of a lesson's scenes, each computed once.
class HandoutMaps {
public:
    /// The engine must outlive this object.
    explicit HandoutMaps(engine::Engine& engine) : engine_(engine) {}

    /// Returns the index of the scene's map, which is computed if no earlier scene has the same numbers.
    /// Throws Error(input) for a scene that cannot be built, for example because its sentence is too long.
    std::size_t add(const lesson::StepScene& scene);
    const HandoutMap& at(std::size_t map) const { return *maps_[map]; }
    std::size_t size() const { return maps_.size(); }

    /// All maps, in batch entry 0: tokens, sizes, and the tensors q (H, Tq, dk), k (Hkv, Tk, dk), scores,
    /// scaled, masked and weights (H, Tq, Tk). A tensor is the Base64 text of its float32 values in little
    /// endian; `scaled` and `masked` are left out if they equal the tensor before them.
    nlohmann::ordered_json json() const;

private:
    std::size_t add_recipe(const lesson::StepScene& scene);
    std::size_t add_pass(const lesson::StepScene& scene);

    engine::Engine& engine_;
    std::vector<std::unique_ptr<const HandoutMap>> maps_;
    std::map<std::string, checkpoint::TextModelPtr> models_; ///< by their names in the scenes
};

} // namespace headscope::app
