"""Models behind a server that speaks OpenAI's chat protocol: OpenAI, vLLM, Ollama, llama.cpp, LM Studio."""
