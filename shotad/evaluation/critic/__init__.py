"""CRITIC (AutoAD-III): are the right characters meant, by name or by pronoun?"""
