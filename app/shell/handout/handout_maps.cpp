#include "app/shell/handout/handout_maps.h"

#include "app/shell/page/html.h"
#include "core/base/error.h"
#include "core/checkpoint/files/packaged_models.h"
#include "core/format/number_text.h"
#include "core/project/same_bits.h"

#include <algorithm>
#include <bit>
#include <nlohmann/json.hpp>
#include <tuple>
#include <utility>

namespace headscope::app {

namespace {

/// The first `count` values as Base64.
std::string packed(const Tensor& tensor, std::int64_t count) {
    std::string bytes;
    for (std::int64_t i = 0; i < count; ++i) {
        auto bits = std::bit_cast<std::uint32_t>(tensor.data()[i]);
        for (int b = 0; b < 4; ++b, bits >>= 8U)
            bytes += static_cast<char>(bits & 0xFFU);
    }
    return html::base64(bytes);
}

std::string key_of_pass(const lesson::StepScene& scene, const std::string& sentence) {
    std::string key = *scene.model + '\n' + sentence + '\n' + scene.corrupted.value_or("") + '\n' +
                      std::to_string(scene.layer.value_or(0));
    for (const lesson::HeadGain& gain : scene.gains) {
        key += '\n' + std::to_string(gain.layer.value_or(scene.layer.value_or(0))) + '.' +
               std::to_string(gain.head) + ' ';
        format::append_number(key, gain.gain);
    }
    return key;
}

nlohmann::ordered_json json_of(const HandoutMap& map) {
    const Problem& problem = map.problem;
    const Dims& d = problem.dims;
    nlohmann::ordered_json out{{"sentence", map.sentence}};
    if (map.model != nullptr)
        out["layer"] = map.layer;
    for (const auto& [name, count, label] : {std::tuple("queries", d.Tq, &Problem::query_label),
                                             std::tuple("keys", d.Tk, &Problem::key_label)}) {
        out[name] = nlohmann::ordered_json::array();
        for (std::int64_t i = 0; i < count; ++i)
            out[name].push_back((problem.*label)(i));
    }
    out["H"] = d.H;
    out["Hkv"] = d.Hkv;
    out["dk"] = d.dk;
    out["temperature"] = format::double_of_decimal_text(problem.temperature);
    out["capped"] = problem.score_cap != 0.0F;
    out["roles"] = map.roles;
    const auto pack = [&](TensorId id, std::int64_t count) { return packed(*map.trace.stage(id), count); };
    out["q"] = pack(TensorId::q_heads, d.H * d.Tq * d.dk);
    out["k"] = pack(TensorId::k_heads, d.Hkv * d.Tk * d.dk);
    const std::int64_t cells = d.H * d.Tq * d.Tk;
    std::string before;
    for (const auto& [name, id] :
         {std::pair("scores", TensorId::scores), std::pair("scaled", TensorId::scaled),
          std::pair("masked", TensorId::masked)}) {
        std::string now = pack(id, cells);
        if (now != before)
            out[name] = now;
        before = std::move(now);
    }
    out["weights"] = pack(TensorId::weights, cells);
    return out;
}

} // namespace

std::size_t HandoutMaps::add(const lesson::StepScene& scene) {
    return scene.model ? add_pass(scene) : add_recipe(scene);
}

std::size_t HandoutMaps::add_recipe(const lesson::StepScene& scene) {
    project::Recipe recipe = lesson::recipe_of(scene);
    const auto known = std::ranges::find_if(maps_, [&](const auto& map) {
        return map->model == nullptr && project::same_bits(map->recipe, recipe);
    });
    if (known != maps_.end())
        return static_cast<std::size_t>(known - maps_.begin());
    project::BuiltRecipe built = project::build_recipe(recipe);
    auto map = std::make_unique<HandoutMap>();
    map->problem = project::with_edits(built.problem, recipe);
    map->trace = engine_.run(map->problem);
    map->sentence = project::recipe_title(recipe);
    map->roles = std::move(built.head_roles);
    map->recipe = std::move(recipe);
    maps_.push_back(std::move(map));
    return maps_.size() - 1;
}

std::size_t HandoutMaps::add_pass(const lesson::StepScene& scene) {
    checkpoint::TextModelPtr& model = models_[*scene.model];
    if (model == nullptr)
        model = checkpoint::open_text_model(checkpoint::model_folder(*scene.model));
    const std::string sentence = scene.sentence.value_or(checkpoint::first_prompt(*model));
    const std::string key = key_of_pass(scene, sentence);
    const auto known = std::ranges::find_if(
        maps_, [&](const auto& map) { return map->model != nullptr && map->pass == key; });
    if (known != maps_.end())
        return static_cast<std::size_t>(known - maps_.begin());
    Progress progress;
    auto map = std::make_unique<HandoutMap>();
    map->model = std::make_shared<const lesson::LessonModel>(lesson::run_lesson_model(
        model, checkpoint::prompt_inputs(*model, sentence), lesson::edits_of(scene, model->model->config()),
        scene.corrupted.value_or(""), progress));
    map->layer = scene.layer.value_or(0);
    const checkpoint::LayerRun& layer = lesson::layer_of(*map->model, map->layer);
    map->problem = *layer.problem;
    map->trace = layer.trace;
    map->sentence = sentence;
    map->pass = key;
    maps_.push_back(std::move(map));
    return maps_.size() - 1;
}

nlohmann::ordered_json HandoutMaps::json() const {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const auto& map : maps_)
        out.push_back(json_of(*map));
    return out;
}

} // namespace headscope::app
