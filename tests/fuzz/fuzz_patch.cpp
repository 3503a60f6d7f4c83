#include "core/base/error.h"
#include "core/base/file.h"
#include "core/checkpoint/model/patch_file.h"
#include "core/checkpoint/model/patch_identity.h"
#include "core/format/safetensors.h"
#include "core/project/checkpoint_project.h"
#include "tests/fuzz/target.h"

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <unistd.h>

using namespace headscope;

namespace {

/// A GPT-2 of one layer, D = 2, H = 1, three words, in its own folder while the program runs.
class TinyCheckpoint {
public:
    TinyCheckpoint() {
        folder_ = std::filesystem::temp_directory_path() / ("headscope-fuzz-" + std::to_string(getpid()));
        std::filesystem::create_directories(folder_);
        write_file_atomically(folder_ / "config.json",
                              R"({"model_type":"gpt2","n_layer":1,"n_embd":2,"n_head":1,"n_inner":2,)"
                              R"("vocab_size":3,"n_positions":4})");
        format::SafetensorsWriter writer;
        const auto add = [&](const char* name, const Shape& shape) {
            writer.add(name, std::make_shared<const Tensor>(shape, 0.5F));
        };
        add("wte.weight", {3, 2});
        add("wpe.weight", {4, 2});
        add("h.0.attn.c_attn.weight", {2, 6});
        add("h.0.attn.c_attn.bias", {6});
        add("h.0.attn.c_proj.weight", {2, 2});
        add("h.0.mlp.c_fc.weight", {2, 2});
        add("h.0.mlp.c_proj.weight", {2, 2});
        for (const char* name :
             {"h.0.attn.c_proj.bias", "h.0.ln_1.weight", "h.0.ln_1.bias", "h.0.ln_2.weight", "h.0.ln_2.bias",
              "h.0.mlp.c_fc.bias", "h.0.mlp.c_proj.bias", "ln_f.weight", "ln_f.bias"})
            add(name, {2});
        write_file_atomically(folder_ / "model.safetensors", writer.bytes());
    }
    ~TinyCheckpoint() {
        std::error_code ignored;
        std::filesystem::remove_all(folder_, ignored);
    }
    TinyCheckpoint(const TinyCheckpoint&) = delete;
    TinyCheckpoint& operator=(const TinyCheckpoint&) = delete;

    checkpoint::Model open() const { return checkpoint::Model::open(folder_.string()); }

private:
    std::filesystem::path folder_;
};

const checkpoint::Model& tiny_model() {
    static const TinyCheckpoint checkpoint;
    static const checkpoint::Model model = checkpoint.open();
    model.require_runnable();
    return model;
}

/// Returns a file for the tiny checkpoint with this list of layers in its metadata and tensors that the list
/// can name. "@" is replaced with the digest of W_Q, W_K, W_V and W_O, which are all the same.
std::string file_with_layers(std::string layers) {
    const std::string digest = checkpoint::digest_of(Tensor(Shape{2, 2}, 0.5F));
    for (auto at = layers.find('@'); at != std::string::npos; at = layers.find('@', at + digest.size()))
        layers.replace(at, 1, digest);
    format::SafetensorsWriter writer;
    const std::int64_t places[] = {1, 3};
    writer.add("layers.0.W_Q", std::make_shared<const Tensor>(Shape{2, 2}, 2.0F));
    writer.add_integers("layers.0.W_K.at", {2}, places);
    writer.add("layers.0.W_K.to", std::make_shared<const Tensor>(Shape{2}, 3.0F));
    std::string text =
        checkpoint::patch_text(checkpoint::identity_of(tiny_model()), nlohmann::ordered_json::array());
    text.replace(text.rfind("[]"), 2, layers);
    writer.set_metadata(checkpoint::patch_key, text);
    return writer.bytes();
}

/// Returns a file for the tiny checkpoint with this metadata in addition to its edits: all of a project
/// except the edits.
std::string file_with_structure(const std::string& structure) {
    format::SafetensorsWriter writer;
    writer.set_metadata(checkpoint::patch_key, checkpoint::patch_text(checkpoint::identity_of(tiny_model()),
                                                                      nlohmann::ordered_json::array()));
    writer.set_metadata(std::string(project::checkpoint_key), structure);
    return writer.bytes();
}

void read_project(const std::string& structure) {
    fuzz::accepted([&] {
        const project::OpenedCheckpointProject opened =
            project::parse_checkpoint_project(file_with_structure(structure), "input");
        const checkpoint::ModelEdits edits = project::edits_of_project(tiny_model(), opened);
        fuzz::accepted([&] { static_cast<void>(project::find_model(opened, "/tmp/p.headscope", {})); });
        // A project that was read is written and read again without a loss.
        const std::string written = project::checkpoint_project_bytes(tiny_model(), edits, opened.project);
        const project::CheckpointProject again =
            project::parse_checkpoint_project(written, "the written file").project;
        fuzz::require(again.text == opened.project.text && again.ids == opened.project.ids &&
                      again.generated_count == opened.project.generated_count &&
                      again.activations == opened.project.activations);
    });
}

/// Bytes that begin with a bracket are the list of layers inside a file. Bytes that begin with a brace are
/// the project part of a file. Other bytes are a whole file.
void read_patch(std::string_view bytes) {
    if (bytes.starts_with('{'))
        return read_project(std::string(bytes));
    const std::string file =
        bytes.starts_with('[') ? file_with_layers(std::string(bytes)) : std::string(bytes);
    fuzz::accepted([&] {
        const checkpoint::ModelEdits edits =
            checkpoint::read_patch(tiny_model(), format::Safetensors::from_bytes(file, "input"));
        // A patch that was read is written and read again without a loss.
        const std::string written = checkpoint::patch_bytes(tiny_model(), edits);
        const checkpoint::ModelEdits again = checkpoint::read_patch(
            tiny_model(), format::Safetensors::from_bytes(written, "the written file"));
        fuzz::require(checkpoint::patch_bytes(tiny_model(), again) == written);
    });
}

const fuzz::Registered patch_target({.name = "patch", .read = read_patch});

} // namespace
