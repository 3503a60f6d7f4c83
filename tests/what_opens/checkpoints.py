"""Public facts about the checkpoints of the page "What opens": name, class, kinds of files, and the configuration keys that
make each one different from the reference case (`like`) that has the tensors of its family. Sizes are those of the case.

weights: safetensors, parts (safetensors with an index), bin (pytorch_model.bin), bin parts, gguf, lora. tokenizer: the files
from which it is read; empty: none. Facts are from the repositories on the Hub, as of November 2026."""

JSON = "tokenizer.json"
LLAMA3_ROPE = {"factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0, "original_max_position_embeddings": 8192, "rope_type": "llama3"}
LLAMA3 = {"rope_theta": 500000.0, "max_position_embeddings": 131072, "attention_bias": False, "mlp_bias": False, "pretraining_tp": 1,
          "rms_norm_eps": 1e-05, "rope_scaling": LLAMA3_ROPE}  # fmt: skip
LLAMA32 = LLAMA3 | {"rope_scaling": LLAMA3_ROPE | {"factor": 32.0}, "head_dim": 8}
LLAMA2 = {"rope_theta": "absent", "max_position_embeddings": 4096, "pretraining_tp": 1, "rms_norm_eps": 1e-05, "rope_scaling": None}
NO_LLAMA = "llama_tiny_untied"
QWEN25 = {"rope_theta": 1000000.0, "sliding_window": 32768, "max_window_layers": 2, "use_sliding_window": False, "rms_norm_eps": 1e-06}
QWEN3 = {"attention_bias": False, "sliding_window": None, "max_window_layers": 2, "use_sliding_window": False, "rms_norm_eps": 1e-06,
         "max_position_embeddings": 40960, "rope_scaling": None}  # fmt: skip
TIED = {"tie_word_embeddings": True}
LM_HEAD = [r"^lm_head\."]
BERT_HEAD = [r"^cls\."]
BACK_BERT = [(r"^bert\.", "")]
ROBERTA_BACK = [(r"^roberta\.", "")]


def row(name, family, like, weights="safetensors", tokenizer=JSON, dtype="F32", **more):
    return {"name": name, "family": family, "like": like, "weights": weights, "tokenizer": tokenizer, "dtype": dtype} | more


def unread(name, family, config, weights="safetensors", tokenizer=JSON):
    """A family without a reference case, by its configuration alone."""
    return {"name": name, "family": family, "config": config, "weights": weights, "tokenizer": tokenizer}


def classifier(width, labels=2):
    return {"classifier.weight": [labels, width], "classifier.bias": [labels]}


CHECKPOINTS = [
    # GPT-2 and the decoders of its time.
    row("openai-community/gpt2", "gpt2", "gpt2_tiny", tokenizer="tokenizer.json, vocab.json, merges.txt",
        set={"activation_function": "gelu_new", "n_ctx": 1024, "resid_pdrop": 0.1, "summary_type": "cls_index"},
        rename=[(r"^transformer\.", "")]),
    row("distilbert/distilgpt2", "gpt2", "gpt2_tiny", set={"_num_labels": 1, "id2label": {"0": "LABEL_0"}}),
    row("microsoft/DialoGPT-medium", "gpt2", "gpt2_tiny", "bin", "vocab.json, merges.txt"),
    row("EleutherAI/gpt-neo-125m", "gpt_neo", "gpt_neo_tiny"),
    row("roneneldan/TinyStories-33M", "gpt_neo", "gpt_neo_tiny", "bin", "tokenizer.json, vocab.json, merges.txt"),
    row("EleutherAI/gpt-j-6b", "gptj", "gptj_tiny", "bin", dtype="F16"),
    row("EleutherAI/pythia-70m", "gpt_neox", "gpt_neox_tiny", dtype="F16"),
    row("EleutherAI/gpt-neox-20b", "gpt_neox", "gpt_neox_tiny", "parts", dtype="F16"),
    row("facebook/opt-125m", "opt", "opt_tiny", "bin", "vocab.json, merges.txt", dtype="F16", set={"do_layer_norm_before": True, "enable_bias": True}),
    row("bigscience/bloom-560m", "bloom", "bloom_tiny", dtype="F16", rename=[(r"^transformer\.", "")]),
    row("tiiuae/falcon-7b", "falcon", "falcon_tiny", "parts", dtype="BF16", set={"alibi": False, "apply_residual_connection_post_layernorm": False}),
    row("mosaicml/mpt-7b", "mpt", "mpt_tiny", "parts", dtype="BF16"),
    row("Salesforce/codegen-350M-mono", "codegen", "codegen_tiny", "bin", "tokenizer.json, vocab.json, merges.txt"),
    row("bigcode/gpt_bigcode-santacoder", "gpt_bigcode", "gpt_bigcode_tiny"),
    row("bigcode/starcoder2-3b", "starcoder2", "starcoder2_tiny", dtype="BF16"),
    row("stabilityai/stablelm-2-1_6b", "stablelm", "stablelm_tiny", dtype="F16", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("facebook/xglm-564M", "xglm", "xglm_tiny", "bin", "sentencepiece.bpe.model"),
    # Llama and relatives.
    row("meta-llama/Llama-2-7b-chat-hf", "llama", NO_LLAMA, "parts", "tokenizer.json, tokenizer.model", "F16", set=LLAMA2),
    row("meta-llama/Meta-Llama-3-8B-Instruct", "llama", NO_LLAMA, "parts", dtype="BF16", set=LLAMA3 | {"rope_scaling": None, "max_position_embeddings": 8192}),
    row("meta-llama/Llama-3.1-8B-Instruct", "llama", NO_LLAMA, "parts", dtype="BF16", set=LLAMA3),
    row("meta-llama/Llama-3.2-1B-Instruct", "llama", "llama_tiny_tied", dtype="BF16", set=LLAMA32),
    row("meta-llama/Llama-3.2-3B-Instruct", "llama", "llama_tiny_tied", "parts", dtype="BF16", set=LLAMA32),
    row("TinyLlama/TinyLlama-1.1B-Chat-v1.0", "llama", NO_LLAMA, tokenizer="tokenizer.json, tokenizer.model", dtype="BF16",
        set=LLAMA2 | {"rope_theta": 10000.0, "max_position_embeddings": 2048}),
    row("HuggingFaceTB/SmolLM2-135M", "llama", "llama_tiny_tied", tokenizer="tokenizer.json, vocab.json, merges.txt", dtype="BF16",
        set={"rope_theta": 100000, "rope_interleaved": False, "is_llama_config": True, "pretraining_tp": 1}),
    row("deepseek-ai/DeepSeek-R1-Distill-Llama-8B", "llama", NO_LLAMA, "parts", dtype="BF16", set=LLAMA3),
    row("lmsys/vicuna-7b-v1.5", "llama", NO_LLAMA, "bin parts", "tokenizer.model", "F16", set=LLAMA2),
    row("HuggingFaceTB/SmolLM3-3B", "smollm3", "smollm3_tiny", "parts", dtype="BF16"),
    row("mistralai/Mistral-7B-v0.1", "mistral", "mistral_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"sliding_window": 4096}),
    row("mistralai/Mistral-7B-Instruct-v0.3", "mistral", "mistral_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"sliding_window": None, "rope_theta": 1000000.0}),
    row("mistralai/Mistral-Nemo-Instruct-2407", "mistral", "mistral_tiny", "parts", dtype="BF16", set={"sliding_window": None, "head_dim": 8}),
    row("mistralai/Mixtral-8x7B-Instruct-v0.1", "mixtral", "mixtral_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"router_aux_loss_coef": 0.02}),
    row("mistralai/Mistral-Small-3.1-24B-Instruct-2503", "mistral3", "mistral3_tiny", "parts", dtype="BF16"),
    row("Qwen/Qwen2.5-0.5B-Instruct", "qwen2", "qwen2_tiny_bf16", set=QWEN25 | TIED, drop=LM_HEAD, dtype="BF16", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("Qwen/Qwen2.5-7B-Instruct", "qwen2", "qwen2_tiny_bf16", "parts", set=QWEN25 | {"sliding_window": 131072}, dtype="BF16", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("deepseek-ai/DeepSeek-R1-Distill-Qwen-1.5B", "qwen2", "qwen2_tiny_bf16", set=QWEN25 | {"rope_theta": 10000, "use_mrope": False}, dtype="BF16"),
    row("Qwen/Qwen1.5-MoE-A2.7B", "qwen2_moe", "qwen2_moe_tiny", "parts", dtype="BF16", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("Qwen/Qwen3-0.6B", "qwen3", "qwen3_tiny", set=QWEN3 | TIED, copy={"lm_head.weight": "model.embed_tokens.weight"}, dtype="BF16", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("Qwen/Qwen3-4B-Instruct-2507", "qwen3", "qwen3_tiny", "parts", set=QWEN3 | TIED | {"rope_theta": 5000000, "max_position_embeddings": 262144}, drop=LM_HEAD, dtype="BF16"),
    row("Qwen/Qwen3-30B-A3B", "qwen3_moe", "qwen3_moe_tiny", "parts", dtype="BF16"),
    row("Qwen/Qwen3-Embedding-0.6B", "qwen3", "qwen3_tiny", set=QWEN3 | TIED, drop=LM_HEAD, rename=[(r"^model\.", "")], dtype="BF16"),
    row("Qwen/Qwen2.5-VL-7B-Instruct", "qwen2_5_vl", "qwen2_5_vl_tiny", "parts", dtype="BF16"),
    row("Qwen/Qwen3-VL-8B-Instruct", "qwen3_vl", "qwen3_vl_tiny", "parts", dtype="BF16"),
    row("google/gemma-2b", "gemma", "gemma_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"hidden_activation": None, "hidden_act": "gelu"}),
    row("google/gemma-2-2b-it", "gemma2", "gemma2_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"cache_implementation": "hybrid"}),
    row("google/gemma-3-1b-it", "gemma3_text", "gemma3_tiny", tokenizer="tokenizer.json, tokenizer.model", dtype="BF16"),
    row("google/gemma-3-4b-it", "gemma3", "gemma3_nested_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16"),
    row("google/embeddinggemma-300m", "gemma3_text", "gemma3_tiny", tokenizer="tokenizer.json, tokenizer.model",
        set={"use_bidirectional_attention": True, "architectures": ["Gemma3TextModel"]}, rename=[(r"^model\.", "")], drop=LM_HEAD),
    row("google/gemma-3n-E2B-it", "gemma3n", "gemma3n_text_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", nested=True,
        rename=[(r"^model\.", "model.language_model.")], drop=LM_HEAD, add={"model.embed_vision.embedding.weight": [4, 6], "model.embed_audio.embedding.weight": [4, 6]}),
    row("microsoft/phi-2", "phi", "phi_tiny", "parts", "tokenizer.json, vocab.json, merges.txt", "F16"),
    row("microsoft/Phi-3-mini-4k-instruct", "phi3", "phi3_tiny", "parts", "tokenizer.json, tokenizer.model", "BF16", set={"sliding_window": 2047}),
    row("microsoft/phi-4", "phi3", "phi3_tiny", "parts", dtype="BF16", set={"sliding_window": None, "rope_theta": 250000}),
    row("allenai/OLMo-2-0425-1B", "olmo2", "olmo2_tiny", dtype="F32"),
    row("allenai/OLMoE-1B-7B-0924", "olmoe", "olmoe_tiny", "parts", dtype="BF16"),
    row("ibm-granite/granite-3.3-2b-instruct", "granite", "granite_tiny", "parts", dtype="BF16"),
    row("ibm-granite/granite-3.1-1b-a400m-instruct", "granitemoe", "granitemoe_tiny", dtype="BF16"),
    row("CohereLabs/aya-expanse-8b", "cohere", "cohere_tiny", "parts", dtype="F16"),
    row("CohereLabs/c4ai-command-r7b-12-2024", "cohere2", "cohere2_tiny", "parts", dtype="BF16"),
    row("zai-org/glm-4-9b-chat-hf", "glm", "glm_tiny", "parts", dtype="BF16"),
    row("zai-org/GLM-4-9B-0414", "glm4", "glm4_tiny", "parts", dtype="BF16"),
    row("LGAI-EXAONE/EXAONE-4.0-1.2B", "exaone4", "exaone4_tiny", dtype="BF16"),
    row("nvidia/Minitron-4B-Base", "nemotron", "nemotron_tiny", "bin", "tokenizer.json, tokenizer.model", "BF16"),
    row("deepseek-ai/DeepSeek-V2-Lite", "deepseek_v2", "deepseek_v2_tiny", "parts", dtype="BF16"),
    row("deepseek-ai/DeepSeek-V3", "deepseek_v3", "deepseek_v3_tiny", "parts", dtype="BF16", quantized="fp8_blocks",
        set={"quantization_config": {"activation_scheme": "dynamic", "fmt": "e4m3", "quant_method": "fp8", "weight_block_size": [128, 128]}}),
    row("openai/gpt-oss-20b", "gpt_oss", "gpt_oss_tiny", "parts", dtype="BF16", quantized="mxfp4", sizes={40: 64, 24: 32, 48: 64},
        set={"hidden_size": 64, "intermediate_size": 32, "quantization_config": {"quant_method": "mxfp4", "modules_to_not_convert": ["model.layers.*.self_attn", "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"]}}),
    row("llava-hf/llava-1.5-7b-hf", "llava", "llava_tiny", "parts", "tokenizer.json, tokenizer.model", "F16"),
    # Encoders.
    row("google-bert/bert-base-uncased", "bert", "bert_tiny", tokenizer="tokenizer.json, vocab.txt", set={"gradient_checkpointing": False}),
    row("google-bert/bert-base-cased", "bert", "bert_tiny", tokenizer="tokenizer.json, vocab.txt"),
    row("google-bert/bert-base-multilingual-cased", "bert", "bert_tiny", tokenizer="tokenizer.json, vocab.txt", set={"directionality": "bidi", "pooler_type": "first_token_transform"}),
    row("dslim/bert-base-NER", "bert", "bert_tiny", tokenizer="vocab.txt", set={"architectures": ["BertForTokenClassification"]},
        drop=BERT_HEAD, add=classifier(32, 9)),
    row("sentence-transformers/all-MiniLM-L6-v2", "bert", "bert_tiny", tokenizer="tokenizer.json, vocab.txt", set={"architectures": ["BertModel"]},
        drop=BERT_HEAD, rename=BACK_BERT),
    row("BAAI/bge-small-en-v1.5", "bert", "bert_tiny", tokenizer="tokenizer.json, vocab.txt", set={"architectures": ["BertModel"]}, drop=BERT_HEAD, rename=BACK_BERT),
    row("distilbert/distilbert-base-uncased", "distilbert", "distilbert_tiny", tokenizer="tokenizer.json, vocab.txt"),
    row("distilbert/distilbert-base-uncased-finetuned-sst-2-english", "distilbert", "distilbert_tiny", tokenizer="vocab.txt",
        set={"architectures": ["DistilBertForSequenceClassification"], "finetuning_task": "sst-2"}, drop=[r"^vocab_"],
        add=classifier(32) | {"pre_classifier.weight": [32, 32], "pre_classifier.bias": [32]}),
    row("FacebookAI/roberta-base", "roberta", "roberta_tiny", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("cardiffnlp/twitter-roberta-base-sentiment-latest", "roberta", "roberta_tiny", "bin", "vocab.json, merges.txt",
        set={"architectures": ["RobertaForSequenceClassification"]}, drop=[r"^lm_head\."],
        add={"classifier.dense.weight": [32, 32], "classifier.dense.bias": [32], "classifier.out_proj.weight": [3, 32], "classifier.out_proj.bias": [3]}),
    row("FacebookAI/xlm-roberta-base", "xlm-roberta", "xlm_roberta_tiny", tokenizer="tokenizer.json, sentencepiece.bpe.model"),
    row("BAAI/bge-m3", "xlm-roberta", "xlm_roberta_tiny", "bin", "tokenizer.json, sentencepiece.bpe.model", set={"architectures": ["XLMRobertaModel"]},
        drop=LM_HEAD, rename=ROBERTA_BACK),
    row("intfloat/multilingual-e5-large", "xlm-roberta", "xlm_roberta_tiny", tokenizer="tokenizer.json, sentencepiece.bpe.model", set={"architectures": ["XLMRobertaModel"]},
        drop=LM_HEAD, rename=ROBERTA_BACK),
    row("almanach/camembert-base", "camembert", "camembert_tiny", tokenizer="tokenizer.json, sentencepiece.bpe.model"),
    row("sentence-transformers/all-mpnet-base-v2", "mpnet", "mpnet_tiny", tokenizer="tokenizer.json, vocab.txt", set={"architectures": ["MPNetForMaskedLM"]},
        drop=LM_HEAD, rename=[(r"^mpnet\.", "")]),
    row("google/electra-base-discriminator", "electra", "electra_tiny", "bin", "tokenizer.json, vocab.txt"),
    row("albert/albert-base-v2", "albert", "albert_tiny", tokenizer="tokenizer.json, spiece.model"),
    row("answerdotai/ModernBERT-base", "modernbert", "modernbert_tiny"),
    row("microsoft/deberta-v3-base", "deberta-v2", "deberta_v2_tiny", "bin", "spm.model",
        set={"architectures": "absent", "pooler_dropout": 0, "pooler_hidden_act": "gelu", "pooler_hidden_size": 24},
        rename=[(r"^cls\.predictions\.transform\.", "lm_predictions.lm_head."), (r"^cls\.predictions\.bias", "lm_predictions.lm_head.bias")],
        add={"mask_predictions.dense.weight": [24, 24], "mask_predictions.dense.bias": [24], "mask_predictions.LayerNorm.weight": [24],
             "mask_predictions.LayerNorm.bias": [24], "mask_predictions.classifier.weight": [1, 24], "mask_predictions.classifier.bias": [1]}),
    unread("nomic-ai/nomic-embed-text-v1.5", "nomic_bert", {"model_type": "nomic_bert", "architectures": ["NomicBertModel"], "n_embd": 768, "n_head": 12, "n_layer": 12}),
    # Encoders with a decoder.
    row("google-t5/t5-small", "t5", "t5_tiny", tokenizer="tokenizer.json, spiece.model", set={"task_specific_params": {}}),
    row("google/flan-t5-base", "t5", "t5_tiny", tokenizer="tokenizer.json, spiece.model", set={"feed_forward_proj": "gated-gelu", "tie_word_embeddings": False},
        rename=[(r"DenseReluDense\.wi\.", "DenseReluDense.wi_0.")], twice=[(r"DenseReluDense\.wi_0\.", "DenseReluDense.wi_1.")],
        copy={"lm_head.weight": "shared.weight"}),
    row("facebook/bart-large-cnn", "bart", "bart_tiny", tokenizer="tokenizer.json, vocab.json, merges.txt"),
    row("facebook/mbart-large-50", "mbart", "mbart_tiny", "bin", "sentencepiece.bpe.model"),
    row("Helsinki-NLP/opus-mt-en-de", "marian", "marian_tiny", "bin", "source.spm, target.spm, vocab.json"),
    unread("facebook/nllb-200-distilled-600M", "m2m_100", {"model_type": "m2m_100", "architectures": ["M2M100ForConditionalGeneration"], "d_model": 1024,
           "encoder_layers": 12, "decoder_layers": 12, "encoder_attention_heads": 16, "decoder_attention_heads": 16, "vocab_size": 256206}, "bin",
           "tokenizer.json, sentencepiece.bpe.model"),
    # Quantized files.
    row("Qwen/Qwen2.5-7B-Instruct-AWQ", "qwen2", "qwen2_tiny_bf16", "parts", quantized="awq", dtype="F16",
        set=QWEN25 | {"quantization_config": {"bits": 4, "group_size": 32, "modules_to_not_convert": None, "quant_method": "awq", "version": "gemm", "zero_point": True}}),
    row("Qwen/Qwen2.5-0.5B-Instruct-GPTQ-Int4", "qwen2", "qwen2_tiny_bf16", quantized="gptq", dtype="F16",
        set=QWEN25 | {"quantization_config": {"bits": 4, "group_size": 32, "damp_percent": 0.01, "desc_act": False, "quant_method": "gptq", "sym": True, "static_groups": False, "true_sequential": True}}),
    row("RedHatAI/Meta-Llama-3.1-8B-Instruct-FP8", "llama", NO_LLAMA, "parts", quantized="fp8", dtype="BF16",
        set=LLAMA3 | {"quantization_config": {"quant_method": "compressed-tensors", "format": "float-quantized", "ignore": ["lm_head"], "config_groups": {"group_0": {"targets": ["Linear"], "weights": {"num_bits": 8, "type": "float", "strategy": "channel", "symmetric": True}}}}}),
    row("unsloth/Llama-3.2-1B-Instruct-bnb-4bit", "llama", "llama_tiny_tied", quantized="bnb4", dtype="BF16",
        set=LLAMA32 | {"quantization_config": {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4", "bnb_4bit_compute_dtype": "bfloat16", "bnb_4bit_use_double_quant": False}}),
    # GGUF files and adapters.
    row("bartowski/Llama-3.2-1B-Instruct-GGUF", "llama", "llama_tiny_tied", "gguf", "in the file"),
    row("Qwen/Qwen2.5-0.5B-Instruct-GGUF", "qwen2", "qwen2_tiny_bf16", "gguf", "in the file", pre="qwen2"),
    row("Qwen/Qwen3-8B-GGUF", "qwen3", "qwen3_tiny", "gguf", "in the file", pre="qwen2"),
    row("tloen/alpaca-lora-7b", "llama", NO_LLAMA, "lora", "of its base model", "F16", set=LLAMA2),
    # Other input than text.
    unread("openai/whisper-small", "whisper", {"model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "d_model": 768, "encoder_layers": 12, "decoder_layers": 12}),
    unread("openai/clip-vit-base-patch32", "clip", {"model_type": "clip", "architectures": ["CLIPModel"], "projection_dim": 512}),
]  # fmt: skip
