"""Character banks as pickles that real versions of pandas wrote, compressed: two films, in frames that have columns of texts,
numbers and arrays beside those of the cast, written by

    one = DataFrame({"movie": ["1005_Signs"] * 2, "frame": [3, 9], "score": [0.5, 0.25],
                     "charbank_nmids": [["nm0000154", "nm0001618"]] * 2,
                     "charbank_roles": [["Graham Hess", "Merrill  Hess"]] * 2, "pred": [numpy.zeros(2)] * 2})
    two = DataFrame({"charbank_nmids": [["nm1"]], "charbank_roles": [["Cole"]]}, index=[7])
    pickle.dumps({"1005_Signs": one, 1010: two}, protocol)
"""

from __future__ import annotations

import base64
import zlib

CAST = {
    "1005_Signs": [{"id": "nm0000154", "role": "Graham Hess"}, {"id": "nm0001618", "role": "Merrill Hess"}],
    "1010": [{"id": "nm1", "role": "Cole"}],
}
"""What they hold, by film."""

_COMPRESSED = {
    ("0.25.3", 2): (
        "eNp9VPdjFEUUvpIEWAgidlEJoLhYzpwEiIoGIdKWXHSwrOVcZ/cmmZO7vfu2AFFWQb2EgAV7ARSx916xY+/lP/Ef0JnZPTxQnB92"
        "p73ve+97b97mTISUbmqpVCrf3b3AWlsedn2knTp1S9TPOTWP5YY8WmVaPw3ocjVDZt4WZCO06Wa7sLNK4gTtB5mU3YB5Lq34uSp1"
        "6TDzfG1ppeasG4hXGjoExAS9iIn6IXYltpH5OZv6TLNctsFaJXc0TDr8teSGFmGybrYJh5Q/Uxw3rNZH4vvVsBKUqefREc3ymFNz"
        "/cALnUBDZ3xLE9DqFFONVANHOJZTKzHH15grJxqmmWkBbONIs0P8KzQou3lMH8VRBEeP4RiCY3UjbXQ0cFwCWApG6sLueDMj7g/2"
        "4oTxrWM4kWCGbmQV1iacVCgUVv8lhvoYfQFOtseLOCVWtVpbX2aYqeYqAehSc18GhFnmVDF3OPVs6q6z3Gq55GP2wZtercJ8zFGS"
        "1D1WwqkswGm2WrsScG4hHMXpBDr/b3U96g4zjchvovG8CGfofG4h9iSgXoAzjZRC9INaHWcZmWTB6jjbSAv8HME5rIhunXdyJW6e"
        "C8XOJZgvFUsbmVH08FimoV4skDItJFjUlGkxeg+WKRXgPHucTzOnp5pj/56+ZLKjD+dzkZYLCBYHuNBucl4kOfsIlhzgvDjhLPdi"
        "qeRcRtAvOPm/2S5RbNPE3WzCNyn5Y7nkWkGwMsCqA1yrJZdBsEZytUmuAT5D5LWg8zRPFzGomxLArXaLkV/Qg0v/WecX5ntxGeOD"
        "RRDdnCy2V3iU02rXSub7WGt2ip0B5nnlSqUr3ruccdJkvkIyX0lwlWTONGDyRU3XDx24Wrp+DcG1Aa474HpRAlxPYCUAN/wPAJUA"
        "NoEToGSLwmK2yPKQKCUuHuKwzqc0QbkELRPcqLRvYJ1So8Jn0QBVm6sidAlqsWW9xRLS0iPwE8tAWYa8S1iuTyw3EGyMLUdaLG+S"
        "ljcTbFI5aCBSlrfofCafzedw+RBuTQA2E2xhEW5TD7s7l+/J5XF7hDviVkLFO0CDT1SntuxgPkaLGNMjbNXV5npaCcWdcT7fnCif"
        "7bBniWs+tjmWZYdl0Xdcy9L8StkR7WC7kTGyRnoMdxLcFUa4W+fjfAnfxrdLweXBPQQ7xMG98mCNOEgCuk8GdD/BA0lAD/J+mZmu"
        "low0q7Mt+bc3M/WQzNTDBI8EeNQOWegHeCzuApZoUtipyk/2zLjN7FJrq8oCqhrp7iIeD+2BP7Nctv0nIuzReTuX/ftJ0b/3Jhl/"
        "qkX9p6WzzxA8m5TRc0r953WpvVD+hUT5FwleOkznET2UeWVHtPZgYU/Se16O8EoLyauS5DWC15PieCNWROZgQjPyN2XkbxG8HeCd"
        "hPRdgvdEob7fhPlAwnxIsE+PMzCKj5S3H4vYPjGz6mHm8Skt4jMl2TLRVPE5FWF8YYvN/XH0X7Y49pVE/JrgmyT6bxXed83ov08c"
        "+YHgRxrhJy6K7WedN/heLgrrlwi/ytTvUzWRimviN4LfQyrz9ofNd/JdfDcXGQlzfwNkC3cC"
    ),
    ("1.2.5", 4): (
        "eNqdVN1qE0EUzia76Y+ttYjWUpCAF7YqSwJt6YVSbERb10aoCN6UdTaZ5izd3YSZ3daCBb1If3DAi46X/iFe+Bo+gY/gM/gCemY3"
        "Wzcaq7iQzJkz852f78w5z/RXj4u5+NuV02K4Ui7P2Q/cZsClGG+ToEG4WW8xam4w4lMphm6RkNyO5SM581wqkG77TSbFxex1Nwgp"
        "C4jHTZ8EpEkZ2htZ8lr1zdVkn8Cn1xF/oRfYoE8oNx3C0d2wHdBte0XpEACjwkjl2HEDg5HiXBD57Z0E7kde6BLGyA76sxmttwIe"
        "sqgeIkQY8UUpBtBdfOVIWrmOrGqO3JdrctrSrGJHwoQwGuFOW2Uo8vcX5OFBcloQ2lNZq9Xufscv/rMWQ+kcqhwMv7XlYsBGlyeD"
        "q3CkOF0HwhwSbNqB7zZ4VsFaHkWF3ma0ISkaEnqgsLVoD93BmJjsxwsjQVMRs6bWDBlg1tBpSFiIOQmdh622tPJKoChosU2KkcJ5"
        "mFRJw1Sasmbl9ySURH6jJ9Xrv6SaU6lWzyRv5etisn5ZlKg+waabsQlLfS0WElO5oe7a36IeW7ykyAYNNMX5UOCX8avMzcquXJmv"
        "LEgKD9XpqTuMAPFLy5Qjy6OrlDHX80rJnsKj313kcXPzOMWfX/+ATrqtqhmTPQbjqjZn+zDUSbKBGaLMm2nV/w6Y/keA3kn5ugxX"
        "4Cpcoxkc3ZWiWDYrs2YlaSWCj0vCiCg6qkm5RJzSF7eIF6mTG2IQu9zGQ2Rz0Ilc7DM1JAzuuXXVKlbeKliach6pgF7AMgh4qYjq"
        "0a6htm+o9w6rpZTD9Eno3dXIcBvRiMfNYmOPYuHVDEiHk+3TkMRDYR0jI2GIY0clam94pBmLE8TzWtvcbkRtjJuE1PaIQz0uD3jk"
        "rH4rgJ4MNRiA4e58OoHi/DHFSDDtKYuY6te9OIAoc+vYvytBOD+b7d8/lBxpGRzIPsS0gPgSfo/H0tImQQIKgV+RBAW9iqNGEhUg"
        "bv8nH7IroaNA+/AJDtZlUsvPcYVzxxUmcWXgNbyBt/AO3iPoA/4+Km4j8wdtJU3t"
    ),
    ("1.5.3", 2): (
        "eNp9lAl/2zQYxnP0msvGGLBxDcrtcYQG2hKgUNjGLq8ZaBzmCEZ21MjUcfLYyrqyZgeQpOUcN4xr3Ddfgm/EFwBJdtp1MJzfL5Zk"
        "6Xn/el69OplrI2PaRiaTKY6PTzqH/VoYI+s1aVilccFrRKwwF9E6M3ZTQffoFnI7TiHfxoBpD8h1Tr0WYXDdCj8ULAppEBfqNKQ1"
        "FsXGzqDhzc8mPQND/elO4Lvx2nzDaYVN35sPmOOqBQaGvbBVby4muvVWIHwaRXTRcCLmNcJYRC1PGBhJZhlSU3/FBivTgeE5XqPK"
        "vNhgoWoYGLWzktjFRfaQfAdU+GERG7vYRHBxD5sJLjGtrPzlutiSSlbFYlOuvNTOyRVzJVy2stzD5QRbTSuv1aaxrVwuH/hbPvrP"
        "yghc4a7wUXtLpv/8eXYmbZyewZVcRryK4GqBa1zPcdyWL7cVOo4RB74nY223clbeyvZwLcF1Vq6HMYLr+TAf4XpbN3DJeiPBTaus"
        "N/MEzy/hFoV3K4Ep8fi/wXZosM1ybj5F25C+cZvCup3gDoE7Xb5dKSuGAsFdimGcoLjGcLdiuIdgQjEMKIbJlOFQCVOK4V6CUt+i"
        "Jdy3nmRG4H53pYIHTJ7l2QqmTVtxhPVx+RQnJ/DgWr84VSzhIcanK5gx7VE5vDeinNbH9rE4xsP2Rjkyy6LID4KxZOwRxmf6oDsV"
        "6C6C3Qo018GjfGvfgfMf7FEO7CXYJ7Df7QscUAIWwcFUYPZ/BMpK4BDBYwKPu0yArKocVipPEDyp/ergKW4qlbFzVvcTMpC+B/uq"
        "TytVm+AZgWddlYrnCJ7voVLBC+Z5ZVdlR1lccGnMDCdkC85+NWLAufC0dMaLbdCknKuyzrHK7SnuKgFT3EMdzPGSTFvNtBVdvXHE"
        "Z+C6rS8J+LodqzB4yd4k2x6nkUvDeSes+9UY8+sHo0bAYgQ6cDNiVdSla6Gr+6ESbJRbXTQJwP97DxENa8wg6j/dSdRGbPJGOSER"
        "NBIQVkYrxqLRRMvKpR3WxBErK/UXCI6yLhYJXk5uNFnyOKZPoHIj2dqS7jsSkGqL2hUc1zGoEFGME22c1JeKMxfQWoxTbbxib1Of"
        "g6CxEDvVVlMWNxXMCajLghivLsctd/avPFe36WttdEw+yIfWKqyrnO8RLJtJJXaxor1/3azgDTuvq6OIN2kFb2noXdJKvE2lf++o"
        "6s0k1Xua4F11ZN4jeL+DDyr40OQOl9n+yOSrSf5YhfqE4NP0iJ/RgT4z+TwPpN7nLtdp+ILgywukQV6VLPI9eZrE1ESaiK/aOHtO"
        "kK9VkG8IvtW3VgffJRUwItGH+yf9e3XSfyD4UeCnNOjPBL/I3PxK8Bs/xpd4mx/n0uvfuTT4D65NbBX+ActkHTo="
    ),
    ("1.5.3", 4): (
        "eNqVVF9P1EAQv961/FMUYvBvJDz4AC8nlwDhQUP0iIoXzgSfsWzb5bah3Tu2W5FEImj4l+wb4/fyI/gZ/AI6097BnTQxbtPd2e3M"
        "b2Z+O9ND+/umU8rGAcyasdr8/KL7PmzJBMxkh8mAJVW/rXh1W7GYgxldZZq9yuQLmDsCMrLduKXATPerh1JzJVmUVGMmWYsrxLv5"
        "Mmr7O+v5Hs3N3a6FG4VecmUC5rabyk7o70Tc9ciGlKdkGnf2c/Q4jXTIlGL7iOoq7rdlolXqa1J0MkUww4idqVxAo3QMdcuDU9iA"
        "2YaFT/kExKRxAr3foUxMeXsZzs/y7xVjPYNms/n2N45sapQ0eOf1iZyonyv5+mMF8NiMeGmI4RBjThKFPuE1yo1KwyK4RplmMS4m"
        "xB0KQ0wNBvHQlMM+12K60HEl91ga7a7kWDwhiH95sXte3g0k+PmvBFfIzybMCktYuJhRGc/jqC0uQFeuLdWWgYsX9PXGa8UEi2fe"
        "8ASzHl/nSoVRNJPvuVi9HkYZN48vGbwaWSL/pc0LLWzcPD2vz/Q0e4TZ3dXpQ8jJOgXK5P5g0Qb8E0+qHkuw1MdcyffcNTrDGxUf"
        "jNOTs6IPsBHgeiBDuHlOTBonbn8MEcfpto6TkBMwt3zBlMfkjivjMEj6D1Q74nhgdxQPgBI1tiTbZnpC17tlHhSFq5hsUbwbtPbF"
        "KHab6FQzpbEBjJ3odgcLhQSOgpVhcpqwg7EP8KIpp16juzHXLEtyE2NnWmMLH4AZcrcj1srEeyyK2nuJG6QdLHumuRsxj2P/niWp"
        "t/6rIuz8ByGGxVhRaWLtnnTJQhcVGdeAoWDXkQVgPC/x0mCJH9OtiS3hEW5QXDkZooiFzCB2L8l7VEQe/iy4Cn2kb03qpYV++grg"
        "rbzMRob7y7frIaNSfBGH4kh8Fd8OQBzje0pkpNU/d6/xLQ=="
    ),
    ("2.2.3", 5): (
        "eNqNVNtu00AQjRO790KpgBYhoTyGl6gRFIoEqqAVN6tBKi+oolhrZ5Ox4ku0XlMKjaAPvUn7xsJ38Ql8Az8As2u7dUqRWCk7s+u5"
        "nDk7ky/WtwdWRa+hbIip1tLSsvPa70WJFFcGJOqQpOnFjDa7jIRUisl1wslTrX+Vt/elcjKdsMekuFU29yNOWUSCpBmSiPQow3gz"
        "T4LY629kZ3QX13MPJ/Dd5MxFistOGg18rx9Qx1U+yng+SsPBbhYdVcp8T4ppp8vi0E27XR2x8X2uUl4/VzP5Y1UKS/uj7PDdgUIv"
        "qt0VeXJ8JDdlw64J46Fst9svf+PSm13h0rUNu3oohbEmOZqJCTf1A+4rcqwk8D0Vxq7aNdtQUeyq2mEW5s5w1HI5mUsJV0XVL+WF"
        "xX9lhZsqJ9TVaTSBuFbiIkwREWGMYG0zDqNeHCWcpR5HbDAvxpFh/RGRVg7kmuHKLLNhmzoL4nk1wsPeOR5WEdHJtmyAAQYKMRmF"
        "S7hay3dlrrfutVYkhcfq6/QzRoCE9ec0QZZmNyhjfhDUszOF9TI555eEBbt6UBT+v4YU8Snj+jmjgnozl9apc8M2C+eM0iOpoC+O"
        "NnCHfqBJ0yUJtv2UE9Ed54W6U7S+EVah6wHo4FBIuAPLimK4XxA8hodHijphhfF7H+NY+RhZiUoixSUPCHNJ1Hei0O8k5QsWBxQv"
        "zAGjHV2jMCPl204PFTtb4sZFcBmJegrvppIljNBvY1JOGMc2EGbC4wHWrhSKiqFjUrXhNON84Muqmoqhd0LKiS5yG7ETznGch1KM"
        "Od2A9LS6QIIg3kmcTjrAuSCcOgFxKc7ycZK6G79qYGZ/FjAOUzghf1GFHX6Yk4UpalHYkgQVcw1ZkEQ/cd2ujA7CgXo12IK3Ku67"
        "C2IW9EMPQIfoF+QVPtg2E3lbjJfawzhtwtxDUwO78BE+wR4MhxI+429fFZc2/wCnAdlT"
    ),
}
"""By version of pandas and protocol of pickle, in base 64."""

PICKLES = {key: zlib.decompress(base64.b64decode(text)) for key, text in _COMPRESSED.items()}
"""By version of pandas and protocol of pickle."""
